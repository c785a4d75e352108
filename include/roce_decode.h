/* roce_decode.h - one Ethernet frame in, what RoCE says in it out. The one decoder of BPF programs,
 * of captures and of the sniffer.
 *
 * Plain bounded reads between `at` and `end`, so that the verifier proves of it in the kernel what
 * the fuzzer tries in user space. No libc, no loops without a bound.
 *
 * Sources: IBTA volume 1 chapter 9 and annexes A16, A17 (RoCE, RoCEv2);
 * linux/include/rdma/ib_pack.h (opcodes), ib_mad.h; RFC 791, RFC 8200 (extension headers), IEEE
 * 802.1Q. */
#pragma once

#ifndef __VMLINUX_H__
#include <linux/types.h>
#include <stdbool.h>
#endif

#define ROCE_UDP_PORT	    4791 /* annex A17.5: by destination port only, a CNP's source port may be 0 \
				  */
#define ROCE_V1_TYPE	    0x8915 /* annex A16.5.1 */
#define ROCE_CNP	    0x81   /* annex A17.9.3; 0x80 is InfiniBand's */
#define ROCE_VLANS_MAX	    4
#define ROCE_EXTENSIONS_MAX 8 /* IPv6 extension headers followed before giving up */

enum roce_verdict {
	ROCE_OTHER,	/* not RoCE, as far as can be told */
	ROCE_PACKET,	/* a whole BTH, and an AETH/RETH where its opcode has one */
	ROCE_FRAGMENT,	/* an IP fragment to or of UDP 4791: counted, not parsed */
	ROCE_MALFORMED, /* of RoCE, but too short or contradicting itself */
	ROCE_PAUSE,	/* a MAC control frame: 802.3x pause or PFC */
};

/* What a BTH opcode's low five bits are, for all transports. */
enum roce_op {
	ROCE_SEND,
	ROCE_WRITE,
	ROCE_READ_REQUEST,
	ROCE_READ_RESPONSE,
	ROCE_ACK,
	ROCE_ATOMIC,
	ROCE_ATOMIC_ACK,
	ROCE_OP_OTHER,
	N_ROCE_OPS
};

/* Opcode's top three bits: RC 0, UC 1, RD 2, UD 3, (4: CNP's), XRC 5. */
#define N_ROCE_TRANSPORTS	     8
/* Place of an opcode in roce_counts.ops. */
#define ROCE_OP_INDEX(transport, op) ((transport)*N_ROCE_OPS + (op))

/* What an AETH syndrome says (volume 1, 9.7.5.2.2). */
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

struct roce_packet {
	__u8 saddr[16], daddr[16]; /* IPv4 as ::ffff:a.b.c.d; RoCEv1: the GRH's GIDs */
	__u8 version;		   /* 1 or 2 */
	__u8 ip;		   /* 4 or 6; RoCEv1: 6 */
	__u8 traffic_class;	   /* TOS: DSCP << 2 | ECN */
	__u8 opcode;		   /* BTH's */
	__u8 transport, op;	   /* opcode >> 5, enum roce_op */
	__u8 syndrome;		   /* of the AETH as it stands, 0 without */
	__u8 syndrome_class;	   /* enum roce_syndrome */
	bool has_aeth, has_reth;
	bool solicited, fecn, becn, ack_request, cnp;
	__u16 pkey;
	__u16 source_port; /* UDP's; RoCEv1: 0 */
	__u32 qpn, psn;	   /* destination QPN, PSN: 24 bits */
	__u32 reth_length; /* bytes of the DMA, 0 without RETH */
	__u32 bth_offset;  /* from the frame's start */
};

/* `type`: the EtherType where the first VLAN tags have been taken out of the frame already (0: read
 * it from the frame). `at` points to the destination MAC. *p is valid as far as the verdict goes:
 * addresses and traffic class from ROCE_FRAGMENT on, everything with ROCE_PACKET. */
static inline enum roce_verdict roce_decode(const void *at, const void *end, struct roce_packet *p);
