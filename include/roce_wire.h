/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* roce_wire.h - constants of RoCE and of the protocols below it: header sizes, opcodes, syndromes.
 *
 * Sources: IBTA volume 1 chapter 9 and annexes A14, A16, A17 (XRC, RoCE, RoCEv2);
 * linux/include/rdma/ib_pack.h (opcodes), ib_mad.h; RFC 791, RFC 8200 (extension headers), IEEE
 * 802.1Q, 802.3 annex 31. */
#pragma once

#ifndef __VMLINUX_H__
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#endif

#define ROCE_UDP_PORT  4791   /* annex A17.5: destination port; a CNP's source port may be 0 */
#define ROCE_V1_TYPE   0x8915 /* annex A16.5.1 */
#define ROCE_CNP       0x81   /* annex A17.9.3; InfiniBand uses 0x80 */
#define ROCE_ICRC_SIZE 4

#define ROCE_MAC_SIZE	   12 /* both addresses */
#define ROCE_IP4_SIZE	   20
#define ROCE_IP6_SIZE	   40
#define ROCE_UDP_SIZE	   8
#define ROCE_BTH_SIZE	   12
#define ROCE_AETH_SIZE	   4
#define ROCE_RETH_SIZE	   16
#define ROCE_RDETH_SIZE	   4 /* RD only, before all others */
#define ROCE_DETH_SIZE	   8
#define ROCE_XRCETH_SIZE   4	/* in XRC requests; annex A14 */
#define ROCE_GRH_NEXT	   0x1b /* volume 1, 8.3.7: a BTH follows */
#define ROCE_PROTOCOL_UDP  17
#define ROCE_TYPE_IP4	   0x0800
#define ROCE_TYPE_IP6	   0x86dd
#define ROCE_TYPE_CONTROL  0x8808
#define ROCE_CONTROL_PAUSE 0x0001
#define ROCE_CONTROL_PFC   0x0101

/* Operation in the low five bits of a BTH opcode, the same for all transports. Opcodes that a
 * transport does not define are ROCE_OP_OTHER. */
enum roce_op {
	ROCE_OP_OTHER,
	ROCE_SEND,
	ROCE_WRITE,
	ROCE_READ_REQUEST,
	ROCE_READ_RESPONSE,
	ROCE_ACK,
	ROCE_ATOMIC,
	ROCE_ATOMIC_ACK,
	N_ROCE_OPS
};

/* The top three bits of an opcode; 4 is CNP. */
enum roce_transport { ROCE_RC, ROCE_UC, ROCE_RD, ROCE_UD, ROCE_XRC = 5, N_ROCE_TRANSPORTS = 8 };
/* Index of an opcode in roce_counts.ops. */
#define ROCE_OP_INDEX(transport, op) ((transport) << 3 | (op))

/* Classes of AETH syndromes (volume 1, 9.7.5.2.2). */
enum roce_syndrome {
	ROCE_SYN_ACK,
	ROCE_SYN_RNR,
	ROCE_SYN_SEQUENCE,	   /* NAK: PSN sequence error */
	ROCE_SYN_INVALID_REQUEST,  /* NAK */
	ROCE_SYN_REMOTE_ACCESS,	   /* NAK */
	ROCE_SYN_REMOTE_OPERATION, /* NAK */
	ROCE_SYN_INVALID_RD,	   /* NAK */
	ROCE_SYN_OTHER,
	N_ROCE_SYNDROMES
};

/* Tables instead of branches, because the verifier follows each branch as a separate path to the
 * end. Not static in BPF: libbpf has no section offset for static variables and would not load BTF.
 */
#ifdef __bpf__
#define ROCE_TABLE const
#else
#define ROCE_TABLE static const
#endif

/* Entry of an opcode: its ROCE_OP_INDEX, and which header follows. */
#define ROCE_INDEX_MASK 0x3f
#define ROCE_HAS_AETH	0x40
#define ROCE_HAS_RETH	0x80

/* Opcodes `from` to `to` of transport t. */
#define ROCE_OPS(t, from, to) [(t) << 5 | (from)...(t) << 5 | (to)]

#define ROCE_SENDS_AND_WRITES(t)                                                                   \
	ROCE_OPS(t, 0x00, 0x05) = ROCE_OP_INDEX(t, ROCE_SEND),                                     \
			  ROCE_OPS(t, 0x06, 0x06) = ROCE_OP_INDEX(t, ROCE_WRITE) |                 \
						    ROCE_HAS_RETH, /* first */                     \
		ROCE_OPS(t, 0x07, 0x09) = ROCE_OP_INDEX(t, ROCE_WRITE),                            \
			  ROCE_OPS(t, 0x0a, 0x0b) = ROCE_OP_INDEX(t, ROCE_WRITE) |                 \
						    ROCE_HAS_RETH /* only */
#define ROCE_READS_AND_ATOMICS(t)                                                                  \
	ROCE_OPS(t, 0x0c,                                                                          \
		 0x0c) = ROCE_OP_INDEX(t, ROCE_READ_REQUEST) | ROCE_HAS_RETH,                      \
		 ROCE_OPS(t, 0x0d, 0x0d) = ROCE_OP_INDEX(t, ROCE_READ_RESPONSE) |                  \
					   ROCE_HAS_AETH, /* first */                              \
		ROCE_OPS(t, 0x0e, 0x0e) = ROCE_OP_INDEX(t, ROCE_READ_RESPONSE),                    \
		 ROCE_OPS(t, 0x0f, 0x10) = ROCE_OP_INDEX(t, ROCE_READ_RESPONSE) | ROCE_HAS_AETH,   \
		 ROCE_OPS(t, 0x11, 0x11) = ROCE_OP_INDEX(t, ROCE_ACK) | ROCE_HAS_AETH,             \
		 ROCE_OPS(t, 0x12, 0x12) = ROCE_OP_INDEX(t, ROCE_ATOMIC_ACK) | ROCE_HAS_AETH,      \
		 ROCE_OPS(t, 0x13, 0x14) = ROCE_OP_INDEX(t, ROCE_ATOMIC)
#define ROCE_INVALIDATES(t)	  ROCE_OPS(t, 0x16, 0x17) = ROCE_OP_INDEX(t, ROCE_SEND)
#define ROCE_UNKNOWN(t, from, to) ROCE_OPS(t, from, to) = ROCE_OP_INDEX(t, ROCE_OP_OTHER)

/* RD's resynchronization (0x15) is omitted. Transport 4 has CNPs only. */
ROCE_TABLE __u8 roce_opcodes[256] = {
	ROCE_SENDS_AND_WRITES(ROCE_RC),
	ROCE_READS_AND_ATOMICS(ROCE_RC),
	ROCE_UNKNOWN(ROCE_RC, 0x15, 0x15),
	ROCE_INVALIDATES(ROCE_RC),
	ROCE_UNKNOWN(ROCE_RC, 0x18, 0x1f),
	ROCE_SENDS_AND_WRITES(ROCE_UC),
	ROCE_UNKNOWN(ROCE_UC, 0x0c, 0x1f),
	ROCE_SENDS_AND_WRITES(ROCE_RD),
	ROCE_READS_AND_ATOMICS(ROCE_RD),
	ROCE_UNKNOWN(ROCE_RD, 0x15, 0x1f),
	ROCE_UNKNOWN(ROCE_UD, 0x00, 0x03),
	ROCE_OPS(ROCE_UD, 0x04, 0x05) = ROCE_OP_INDEX(ROCE_UD, ROCE_SEND),
	ROCE_UNKNOWN(ROCE_UD, 0x06, 0x1f),
	ROCE_UNKNOWN(4, 0x00, 0x1f),
	ROCE_SENDS_AND_WRITES(ROCE_XRC),
	ROCE_READS_AND_ATOMICS(ROCE_XRC),
	ROCE_UNKNOWN(ROCE_XRC, 0x15, 0x15),
	ROCE_INVALIDATES(ROCE_XRC),
	ROCE_UNKNOWN(ROCE_XRC, 0x18, 0x1f),
	ROCE_UNKNOWN(6, 0x00, 0x1f),
	ROCE_UNKNOWN(7, 0x00, 0x1f),
};

ROCE_TABLE __u8 roce_syndromes[256] = {
	[0x00 ... 0x1f] = ROCE_SYN_ACK,	    [0x20 ... 0x3f] = ROCE_SYN_RNR,
	[0x40 ... 0x5f] = ROCE_SYN_OTHER,   [0x60] = ROCE_SYN_SEQUENCE,
	[0x61] = ROCE_SYN_INVALID_REQUEST,  [0x62] = ROCE_SYN_REMOTE_ACCESS,
	[0x63] = ROCE_SYN_REMOTE_OPERATION, [0x64] = ROCE_SYN_INVALID_RD,
	[0x65 ... 0xff] = ROCE_SYN_OTHER,
};

enum roce_extension {
	ROCE_HOP_BY_HOP = 0,
	ROCE_ROUTING = 43,
	ROCE_FRAGMENT_HEADER = 44,
	ROCE_AUTHENTICATION = 51,
	ROCE_DESTINATION = 60,
	ROCE_MOBILITY = 135,
	ROCE_HIP = 139,
	ROCE_SHIM6 = 140,
};

#define ROCE_EXTENSION(add, unit) ((add) << 4 | (unit))

/* Length of each extension header: what to add to its length field (second byte), and the field's
 * unit. */
ROCE_TABLE __u8 roce_extensions[256] = {
	[ROCE_HOP_BY_HOP] = ROCE_EXTENSION(1, 8),
	[ROCE_ROUTING] = ROCE_EXTENSION(1, 8),
	[ROCE_FRAGMENT_HEADER] = ROCE_EXTENSION(1, 8), /* second byte: reserved */
	[ROCE_AUTHENTICATION] = ROCE_EXTENSION(2, 4),  /* RFC 4302 */
	[ROCE_DESTINATION] = ROCE_EXTENSION(1, 8),
	[ROCE_MOBILITY] = ROCE_EXTENSION(1, 8),
	[ROCE_HIP] = ROCE_EXTENSION(1, 8),
	[ROCE_SHIM6] = ROCE_EXTENSION(1, 8),
};
