/* roce_decode.h - one Ethernet frame in, what RoCE says in it out. The one decoder of BPF programs,
 * of captures and of the sniffer.
 *
 * Plain bounded reads, so that the verifier proves of it in the kernel what the fuzzer tries in
 * user space. No libc, no loops without a bound.
 *
 * Sources: IBTA volume 1 chapter 9 and annexes A16, A17 (RoCE, RoCEv2);
 * linux/include/rdma/ib_pack.h (opcodes), ib_mad.h; RFC 791, RFC 8200 (extension headers), RFC 6946
 * (a fragment header on a whole packet), IEEE 802.1Q, 802.3 annex 31. */
#pragma once

#ifndef __VMLINUX_H__
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#endif

#define ROCE_UDP_PORT	    4791   /* annex A17.5: destination only, a CNP's source port may be 0 */
#define ROCE_V1_TYPE	    0x8915 /* annex A16.5.1 */
#define ROCE_CNP	    0x81   /* annex A17.9.3; 0x80 is InfiniBand's */
#define ROCE_VLANS_MAX	    4
#define ROCE_EXTENSIONS_MAX 8 /* IPv6 extension headers followed before giving up */
#define ROCE_ICRC_SIZE	    4

enum roce_verdict {
	ROCE_OTHER,    /* not RoCE, as far as can be told */
	ROCE_PACKET,   /* a whole BTH, and an AETH/RETH where its opcode has one */
	ROCE_FRAGMENT, /* the first fragment of an IP packet to UDP 4791: counted, not parsed. Later
			  fragments have no port and are ROCE_OTHER, so a packet counts once */
	ROCE_MALFORMED, /* of RoCE, but too short or contradicting itself */
	ROCE_PAUSE,	/* a MAC control frame: 802.3x pause or PFC */
	ROCE_CUT,	/* the frame goes on, and what is not at hand is needed to tell */
};

/* What a BTH opcode's low five bits are, for all transports. Opcodes that a transport does not have
 * are ROCE_OP_OTHER. */
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

/* Opcode's top three bits; CNP's are 4. */
enum roce_transport { ROCE_RC, ROCE_UC, ROCE_RD, ROCE_UD, ROCE_XRC = 5, N_ROCE_TRANSPORTS = 8 };
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
	__u32 qpn, psn;		   /* destination QPN, PSN: 24 bits */
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
	__u32 reth_length; /* bytes of the DMA, 0 without RETH */
	/* From the frame's start: the IP header or GRH, the BTH, the ICRC. */
	__u32 network_offset, bth_offset, icrc_offset;
} __attribute__((aligned(8)));

/* A frame, or as much of its beginning as is at hand. */
struct roce_frame {
	const void *start, *end;
	__u32 length; /* of the whole frame; more than end - start where it is cut. ROCE_ANY_LENGTH:
			 the caller compares with roce_ip.end afterwards */
	__u32 type;   /* 0: start is the destination MAC; else the EtherType of what starts there */
	__u32 room;   /* BPF, of a copy: its size, a constant; else 0 */
};

#define ROCE_ANY_LENGTH 0xffffffffu

#define ROCE_INLINE static inline __attribute__((always_inline))

/* The IP header or GRH, as far as others need it. */
struct roce_ip {
	const __u8 *header;
	__u64 offset; /* of it */
	__u64 end;    /* of what it carries, as it says */
	__u8 family;  /* 4 or 6 */
	__u8 version; /* of RoCE */
	__u8 traffic_class;
	bool first; /* is the first of several fragments */
};

/* *p is valid as far as the verdict goes: with ROCE_PACKET all of it, with ROCE_FRAGMENT the
 * addresses, the traffic class, network_offset and the source port, otherwise nothing. */
ROCE_INLINE enum roce_verdict roce_decode(const struct roce_frame *, struct roce_packet *p);
/* The same without the addresses, for those who only count; roce_ip_addresses() tells them. */
ROCE_INLINE enum roce_verdict roce_decode_headers(const struct roce_frame *, struct roce_packet *p,
						  struct roce_ip *);
ROCE_INLINE void roce_ip_addresses(const struct roce_ip *, __u8 saddr[16], __u8 daddr[16]);
/* What most packets are: no tag, IPv4 without options or IPv6, all up to a BTH's end at hand. The
 * same functions decode these in a third of the time, as the compiler knows where everything is.
 * ROCE_CUT of these: have the whole of it decoded. */
ROCE_INLINE bool roce_is_plain4(const struct roce_frame *);
ROCE_INLINE bool roce_is_plain6(const struct roce_frame *);
ROCE_INLINE enum roce_verdict roce_decode_plain4(const struct roce_frame *, struct roce_packet *p,
						 struct roce_ip *);
ROCE_INLINE enum roce_verdict roce_decode_plain6(const struct roce_frame *, struct roce_packet *p,
						 struct roce_ip *);

/* --- how ------------------------------------------------------------------------------------ */

#define ROCE_MAC_SIZE	   12 /* both addresses */
#define ROCE_IP4_SIZE	   20
#define ROCE_IP6_SIZE	   40
#define ROCE_UDP_SIZE	   8
#define ROCE_BTH_SIZE	   12
#define ROCE_AETH_SIZE	   4
#define ROCE_RETH_SIZE	   16
#define ROCE_RDETH_SIZE	   4 /* RD's, before all others */
#define ROCE_DETH_SIZE	   8
#define ROCE_XRCETH_SIZE   4	/* in XRC's requests; annex A14 */
#define ROCE_GRH_NEXT	   0x1b /* volume 1, 8.3.7: a BTH follows */
#define ROCE_PROTOCOL_UDP  17
#define ROCE_TYPE_IP4	   0x0800
#define ROCE_TYPE_IP6	   0x86dd
#define ROCE_TYPE_CONTROL  0x8808
#define ROCE_CONTROL_PAUSE 0x0001
#define ROCE_CONTROL_PFC   0x0101

struct roce_reader {
	const struct roce_frame *frame;
	__u64 offset; /* of the next header */
	__u32 plain;  /* of a plain frame: its bytes at hand; 0: any frame. A constant */
};

/* Of plain frames, all up to the end of the BTH. */
#define ROCE_PLAIN4_SIZE (ROCE_MAC_SIZE + 2 + ROCE_IP4_SIZE + ROCE_UDP_SIZE + ROCE_BTH_SIZE)
#define ROCE_PLAIN6_SIZE (ROCE_MAC_SIZE + 2 + ROCE_IP6_SIZE + ROCE_UDP_SIZE + ROCE_BTH_SIZE)

/* BPF has its unaligned loads done by the JIT on the machines there are; user space asks politely.
 */
ROCE_INLINE __u16 roce_u16(const void *at)
{
	__u16 v;

#ifdef __bpf__
	v = *(const __u16 *)at;
#else
	__builtin_memcpy(&v, at, sizeof(v));
#endif
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	v = __builtin_bswap16(v);
#endif
	return v;
}

ROCE_INLINE __u32 roce_raw32(const void *at)
{
	__u32 v;

#ifdef __bpf__
	v = *(const __u32 *)at;
#else
	__builtin_memcpy(&v, at, sizeof(v));
#endif
	return v;
}

ROCE_INLINE __u64 roce_raw64(const void *at)
{
	__u64 v;

#ifdef __bpf__
	v = *(const __u64 *)at;
#else
	__builtin_memcpy(&v, at, sizeof(v));
#endif
	return v;
}

ROCE_INLINE __u32 roce_u32(const void *at)
{
	__u32 v = roce_raw32(at);

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	v = __builtin_bswap32(v);
#endif
	return v;
}

/* The next n bytes, if they are at hand. Stays where it is. */
ROCE_INLINE const __u8 *roce_peek(const struct roce_reader *r, __u32 n)
{
	const struct roce_frame *f = r->frame;
	const __u8 *at = (const __u8 *)f->start;
#ifdef __bpf__
	__u64 offset = r->offset;

	if (offset + n <= r->plain)
		return at + offset;
	if (r->plain)
		return (const void *)(at + offset + n) > f->end ? NULL : at + offset;

	/* What is compared is what is used, or the verifier does not see it. */
	asm volatile("" : "+r"(offset));
	if (f->room && offset > f->room - n)
		return NULL;
	at += offset;
	asm volatile("" : "+r"(at));
	return (const void *)(at + n) > f->end ? NULL : at;
#else
	return r->offset + n > (__u64)((const __u8 *)f->end - at) ? NULL : at + r->offset;
#endif
}

/* Past n bytes. The verifier is made to forget what it knows of the offset: otherwise it would
 * follow each chain of headers on its own, a million steps of them. No chain is longer than the
 * mask: ROCE_EXTENSIONS_MAX headers of 2,048 bytes. */
ROCE_INLINE void roce_skip(struct roce_reader *r, __u32 n)
{
	r->offset += n;
#ifdef __bpf__
	__u64 unknown = (const __u8 *)r->frame->end - (const __u8 *)r->frame->start;

	if (r->plain)
		return;
	asm volatile("%0 ^= %1\n%0 ^= %1" : "+r"(r->offset) : "r"(unknown));
	r->offset &= 0x7fff;
#endif
}

/* Why the next n bytes are not at hand: the frame has none, or they are somewhere else. */
ROCE_INLINE enum roce_verdict roce_missing(const struct roce_reader *r, __u32 n,
					   enum roce_verdict if_none)
{
	return r->offset + n > r->frame->length ? if_none : ROCE_CUT;
}

/* Tables rather than branches: each branch is a path of its own for the verifier, up to the end.
 * Not static in BPF: libbpf knows no place of static variables in a section, and then loads no BTF.
 */
#ifdef __bpf__
#define ROCE_TABLE const
#else
#define ROCE_TABLE static const
#endif

#define ROCE_OP_MASK  0x07
#define ROCE_HAS_AETH 0x10
#define ROCE_HAS_RETH 0x20

/* The opcodes of a transport, in the order of their numbers: what they are and what follows. */
#define ROCE_SENDS_AND_WRITES(t)                                                                   \
	[(t) << 5 | 0x00 ...(t) << 5 | 0x05] = ROCE_SEND,                                          \
				       [(t) << 5 | 0x06] = ROCE_WRITE | ROCE_HAS_RETH, /* first */ \
		[(t) << 5 | 0x07 ...(t) << 5 | 0x09] = ROCE_WRITE,                                 \
				       [(t) << 5 | 0x0a ...(t) << 5 |                              \
					       0x0b] = ROCE_WRITE |                                \
						       ROCE_HAS_RETH /* only, with immediate */
#define ROCE_READS_AND_ATOMICS(t)                                                                  \
	[(t) << 5 | 0x0c] = ROCE_READ_REQUEST | ROCE_HAS_RETH,                                     \
		    [(t) << 5 | 0x0d] = ROCE_READ_RESPONSE | ROCE_HAS_AETH, /* first */            \
		[(t) << 5 | 0x0e] = ROCE_READ_RESPONSE,                                            \
		    [(t) << 5 | 0x0f ...(t) << 5 | 0x10] = ROCE_READ_RESPONSE |                    \
							   ROCE_HAS_AETH, /* last, only */         \
		[(t) << 5 | 0x11] = ROCE_ACK | ROCE_HAS_AETH,                                      \
		    [(t) << 5 | 0x12] = ROCE_ATOMIC_ACK | ROCE_HAS_AETH,                           \
		    [(t) << 5 | 0x13 ...(t) << 5 | 0x14] = ROCE_ATOMIC
#define ROCE_INVALIDATES(t) [(t) << 5 | 0x16 ...(t) << 5 | 0x17] = ROCE_SEND

/* Those that a transport does not have are 0. RD's resynchronization (0x15) is left out. */
ROCE_TABLE __u8 roce_ops[256] = {
	ROCE_SENDS_AND_WRITES(ROCE_RC),
	ROCE_READS_AND_ATOMICS(ROCE_RC),
	ROCE_INVALIDATES(ROCE_RC),
	ROCE_SENDS_AND_WRITES(ROCE_UC),
	ROCE_SENDS_AND_WRITES(ROCE_RD),
	ROCE_READS_AND_ATOMICS(ROCE_RD),
	[ROCE_UD << 5 | 0x04 ... ROCE_UD << 5 | 0x05] = ROCE_SEND,
	ROCE_SENDS_AND_WRITES(ROCE_XRC),
	ROCE_READS_AND_ATOMICS(ROCE_XRC),
	ROCE_INVALIDATES(ROCE_XRC),
};

ROCE_TABLE __u8 roce_syndromes[256] = {
	[0x00 ... 0x1f] = ROCE_SYN_ACK,	    [0x20 ... 0x3f] = ROCE_SYN_RNR,
	[0x40 ... 0x5f] = ROCE_SYN_OTHER,   [0x60] = ROCE_SYN_SEQUENCE,
	[0x61] = ROCE_SYN_INVALID_REQUEST,  [0x62] = ROCE_SYN_REMOTE_ACCESS,
	[0x63] = ROCE_SYN_REMOTE_OPERATION, [0x64] = ROCE_SYN_INVALID_RD,
	[0x65 ... 0xff] = ROCE_SYN_OTHER,
};

/* The reader stands before the BTH; `size`: bytes from there to the end of the ICRC. */
ROCE_INLINE enum roce_verdict roce_aeth(struct roce_reader *r, __u32 size, struct roce_packet *p)
{
	__u32 before = ROCE_BTH_SIZE + (p->transport == ROCE_RD ? ROCE_RDETH_SIZE : 0);
	const __u8 *aeth;

	p->has_aeth = true;
	if (size < before + ROCE_AETH_SIZE + ROCE_ICRC_SIZE)
		return ROCE_MALFORMED;
	r->offset += before;
	aeth = roce_peek(r, ROCE_AETH_SIZE);
	if (!aeth)
		return roce_missing(r, ROCE_AETH_SIZE, ROCE_MALFORMED);
	p->syndrome = aeth[0];
	p->syndrome_class = roce_syndromes[aeth[0]];
	return ROCE_PACKET;
}

ROCE_INLINE enum roce_verdict roce_reth(struct roce_reader *r, __u32 size, struct roce_packet *p)
{
	__u32 before = ROCE_BTH_SIZE;
	const __u8 *reth;

	if (p->transport == ROCE_RD)
		before += ROCE_RDETH_SIZE + ROCE_DETH_SIZE;
	else if (p->transport == ROCE_XRC)
		before += ROCE_XRCETH_SIZE;
	p->has_reth = true;
	if (size < before + ROCE_RETH_SIZE + ROCE_ICRC_SIZE)
		return ROCE_MALFORMED;
	r->offset += before;
	reth = roce_peek(r, ROCE_RETH_SIZE);
	if (!reth)
		return roce_missing(r, ROCE_RETH_SIZE, ROCE_MALFORMED);
	p->reth_length = roce_u32(reth + 12); /* after the address and the key */
	return ROCE_PACKET;
}

ROCE_INLINE void roce_bth_fields(const __u8 *bth, struct roce_packet *p)
{
	p->opcode = bth[0];
	p->solicited = bth[1] >> 7;
	p->pkey = roce_u16(bth + 2);
	p->fecn = bth[4] >> 7;
	p->becn = bth[4] >> 6 & 1;
	p->qpn = roce_u32(bth + 4) & 0xffffff;
	p->ack_request = bth[8] >> 7;
	p->psn = roce_u32(bth + 8) & 0xffffff;
	p->cnp = p->opcode == ROCE_CNP;
	p->transport = p->opcode >> 5;
	p->syndrome = p->syndrome_class = 0;
	p->has_aeth = p->has_reth = false;
	p->reth_length = 0;
}

ROCE_INLINE enum roce_verdict roce_bth(struct roce_reader *r, __u32 size, struct roce_packet *p)
{
	const __u8 *bth = roce_peek(r, ROCE_BTH_SIZE);
	__u8 op;

	if (size < ROCE_BTH_SIZE + ROCE_ICRC_SIZE)
		return ROCE_MALFORMED;
	if (!bth)
		return roce_missing(r, ROCE_BTH_SIZE, ROCE_MALFORMED);
	p->bth_offset = r->offset;
	p->icrc_offset = r->offset + size - ROCE_ICRC_SIZE;
	roce_bth_fields(bth, p);
	op = roce_ops[p->opcode];
	p->op = op & ROCE_OP_MASK;
	if (op & ROCE_HAS_AETH)
		return roce_aeth(r, size, p);
	if (op & ROCE_HAS_RETH)
		return roce_reth(r, size, p);
	return ROCE_PACKET;
}

/* Stored in the width that hash tables compare in: a wide load of two narrow stores waits for both.
 */
ROCE_INLINE void roce_copy_gid(__u8 *to, const __u8 *from)
{
	((__u64 *)(void *)to)[0] = roce_raw64(from);
	((__u64 *)(void *)to)[1] = roce_raw64(from + 8);
}

/* IPv4 as ::ffff:a.b.c.d */
ROCE_INLINE void roce_copy_ip4(__u8 *to, const __u8 *from)
{
	__u64 low = roce_raw32(from);

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	low = low << 32 | 0xffff0000;
#else
	low |= 0xffffull << 32;
#endif
	((__u64 *)(void *)to)[0] = 0;
	((__u64 *)(void *)to)[1] = low;
}

ROCE_INLINE void roce_ip_addresses(const struct roce_ip *ip, __u8 saddr[16], __u8 daddr[16])
{
	if (ip->family == 4) {
		roce_copy_ip4(saddr, ip->header + 12);
		roce_copy_ip4(daddr, ip->header + 16);
	} else {
		roce_copy_gid(saddr, ip->header + 8);
		roce_copy_gid(daddr, ip->header + 24);
	}
}

/* The network headers: each leaves the reader behind itself and says ROCE_PACKET if a UDP header
 * or, with RoCEv1, a BTH follows. What comes then stands only once in the program. */
ROCE_INLINE enum roce_verdict roce_ip4(struct roce_reader *r, struct roce_ip *ip)
{
	const __u8 *header = roce_peek(r, ROCE_IP4_SIZE);
	__u32 size, total, fragment;

	if (!header)
		return roce_missing(r, ROCE_IP4_SIZE, ROCE_OTHER);
	size = r->plain ? ROCE_IP4_SIZE : (header[0] & 0xf) * 4;
	total = roce_u16(header + 2);
	fragment = roce_u16(header + 6);
	if (header[9] != ROCE_PROTOCOL_UDP || (!r->plain && header[0] >> 4 != 4) ||
	    size < ROCE_IP4_SIZE || total < size || (fragment & 0x1fff) != 0)
		return ROCE_OTHER;
	*ip = (struct roce_ip){.header = header,
			       .offset = r->offset,
			       .end = r->offset + total,
			       .family = 4,
			       .version = 2,
			       .traffic_class = header[1],
			       .first = (fragment & 0x2000) != 0}; /* more fragments */
	roce_skip(r, size);
	return ROCE_PACKET;
}

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

/* How long they are: what is added to the length in their second byte, and its unit. */
ROCE_TABLE __u8 roce_extensions[256] = {
	[ROCE_HOP_BY_HOP] = ROCE_EXTENSION(1, 8),
	[ROCE_ROUTING] = ROCE_EXTENSION(1, 8),
	[ROCE_FRAGMENT_HEADER] = ROCE_EXTENSION(1, 8), /* its second byte is reserved */
	[ROCE_AUTHENTICATION] = ROCE_EXTENSION(2, 4),  /* RFC 4302 */
	[ROCE_DESTINATION] = ROCE_EXTENSION(1, 8),
	[ROCE_MOBILITY] = ROCE_EXTENSION(1, 8),
	[ROCE_HIP] = ROCE_EXTENSION(1, 8),
	[ROCE_SHIM6] = ROCE_EXTENSION(1, 8),
};

/* Past the headers between IPv6 and UDP. */
ROCE_INLINE enum roce_verdict roce_pass_extensions(struct roce_reader *r, struct roce_ip *ip,
						   __u8 next)
{
	for (int i = 0; i <= ROCE_EXTENSIONS_MAX; i++) {
		const __u8 *at;
		__u8 length, kind;

		if (next == ROCE_PROTOCOL_UDP)
			return ROCE_PACKET;
		kind = roce_extensions[next];
		if (kind == 0)
			return ROCE_OTHER;
		if (r->plain)
			return ROCE_CUT;
		at = roce_peek(r, 8);
		if (!at)
			return roce_missing(r, 8, ROCE_OTHER);
		length = at[1];
		if (next == ROCE_FRAGMENT_HEADER) {
			if (roce_u16(at + 2) & 0xfff8)
				return ROCE_OTHER;
			ip->first |= at[3] & 1;
			length = 0;
		}
		next = at[0];
		roce_skip(r, (length + (kind >> 4)) * (kind & 0xf));
	}
	return ROCE_OTHER;
}

/* A GRH looks like an IPv6 header; annex A16.4.2 */
ROCE_INLINE enum roce_verdict roce_ip6(struct roce_reader *r, bool grh, struct roce_ip *ip)
{
	const __u8 *header = roce_peek(r, ROCE_IP6_SIZE);
	enum roce_verdict wrong = grh ? ROCE_MALFORMED : ROCE_OTHER;

	if (!header)
		return roce_missing(r, ROCE_IP6_SIZE, wrong);
	if ((!r->plain && header[0] >> 4 != 6) || (grh && header[6] != ROCE_GRH_NEXT))
		return wrong;
	*ip = (struct roce_ip){.header = header,
			       .offset = r->offset,
			       .end = r->offset + ROCE_IP6_SIZE + roce_u16(header + 4),
			       .family = 6,
			       .version = grh ? 1 : 2,
			       .traffic_class = roce_u16(header) >> 4};
	r->offset += ROCE_IP6_SIZE;
	return grh ? ROCE_PACKET : roce_pass_extensions(r, ip, header[6]);
}

/* Behind UDP, if it is for RoCE. *ret_size: bytes that follow in the packet. */
ROCE_INLINE enum roce_verdict roce_udp(struct roce_reader *r, const struct roce_ip *ip,
				       struct roce_packet *p, __u32 *ret_size)
{
	const __u8 *udp = roce_peek(r, ROCE_UDP_SIZE);
	__u32 size;

	if (r->offset + ROCE_UDP_SIZE > ip->end)
		return ROCE_OTHER;
	if (!udp)
		return roce_missing(r, ROCE_UDP_SIZE, ROCE_OTHER);
	if (roce_u16(udp + 2) != ROCE_UDP_PORT)
		return ROCE_OTHER;
	p->source_port = roce_u16(udp);
	if (ip->first)
		return ROCE_FRAGMENT;
	size = roce_u16(udp + 4);
	if (size < ROCE_UDP_SIZE || r->offset + size > ip->end)
		return ROCE_MALFORMED;
	r->offset += ROCE_UDP_SIZE;
	*ret_size = size - ROCE_UDP_SIZE;
	return ROCE_PACKET;
}

ROCE_INLINE enum roce_verdict roce_control(struct roce_reader *r)
{
	const __u8 *at = roce_peek(r, 2);
	__u16 opcode;

	if (!at)
		return roce_missing(r, 2, ROCE_OTHER);
	opcode = roce_u16(at);
	return opcode == ROCE_CONTROL_PAUSE || opcode == ROCE_CONTROL_PFC ? ROCE_PAUSE : ROCE_OTHER;
}

ROCE_INLINE bool roce_is_vlan(__u32 type)
{
	return type == 0x8100 || type == 0x88a8 || type == 0x9100;
}

/* Behind the MAC addresses: to the network header, past the VLAN tags. False: *ret is the verdict.
 */
ROCE_INLINE bool roce_ether_type(struct roce_reader *r, __u32 *type, enum roce_verdict *ret)
{
	const __u8 *at = roce_peek(r, 2);

	for (int i = 0; at; i++) {
		*type = roce_u16(at);
		r->offset += 2;
		if (!roce_is_vlan(*type))
			return true;
		if (i == ROCE_VLANS_MAX) {
			*ret = ROCE_OTHER;
			return false;
		}
		roce_skip(r, 2);
		at = roce_peek(r, 2);
	}
	*ret = roce_missing(r, 2, ROCE_OTHER);
	return false;
}

ROCE_INLINE enum roce_verdict roce_network(struct roce_reader *r, __u32 type, struct roce_ip *ip)
{
	switch (type) {
	case ROCE_TYPE_IP4:
		return roce_ip4(r, ip);
	case ROCE_TYPE_IP6:
		return roce_ip6(r, false, ip);
	case ROCE_V1_TYPE:
		return roce_ip6(r, true, ip);
	case ROCE_TYPE_CONTROL:
		return roce_control(r);
	}
	return ROCE_OTHER;
}

/* What the network header carries. */
ROCE_INLINE enum roce_verdict roce_transport(struct roce_reader *r, const struct roce_ip *ip,
					     struct roce_packet *p)
{
	__u32 size = ip->end - r->offset; /* RoCEv1; UDP says its own */
	enum roce_verdict verdict = ROCE_PACKET;

	p->source_port = 0;
	if (ip->version == 2)
		verdict = roce_udp(r, ip, p, &size);
	p->version = ip->version;
	p->ip = ip->family;
	p->traffic_class = ip->traffic_class;
	p->network_offset = ip->offset;
	if (verdict != ROCE_PACKET)
		return verdict;
	return ip->end > r->frame->length ? ROCE_MALFORMED : roce_bth(r, size, p);
}

ROCE_INLINE bool roce_is_plain4(const struct roce_frame *f)
{
	const __u8 *at = (const __u8 *)f->start;

	return f->type == 0 && (const void *)(at + ROCE_PLAIN4_SIZE) <= f->end &&
	       roce_u16(at + ROCE_MAC_SIZE) == ROCE_TYPE_IP4 && at[ROCE_MAC_SIZE + 2] == 0x45;
}

ROCE_INLINE bool roce_is_plain6(const struct roce_frame *f)
{
	const __u8 *at = (const __u8 *)f->start;

	return f->type == 0 && (const void *)(at + ROCE_PLAIN6_SIZE) <= f->end &&
	       roce_u16(at + ROCE_MAC_SIZE) == ROCE_TYPE_IP6 && at[ROCE_MAC_SIZE + 2] >> 4 == 6;
}

ROCE_INLINE enum roce_verdict roce_decode_plain4(const struct roce_frame *frame,
						 struct roce_packet *p, struct roce_ip *ip)
{
	struct roce_reader r = {frame, ROCE_MAC_SIZE + 2, ROCE_PLAIN4_SIZE};
	enum roce_verdict verdict = roce_ip4(&r, ip);

	return verdict == ROCE_PACKET ? roce_transport(&r, ip, p) : verdict;
}

ROCE_INLINE enum roce_verdict roce_decode_plain6(const struct roce_frame *frame,
						 struct roce_packet *p, struct roce_ip *ip)
{
	struct roce_reader r = {frame, ROCE_MAC_SIZE + 2, ROCE_PLAIN6_SIZE};
	enum roce_verdict verdict = roce_ip6(&r, false, ip);

	return verdict == ROCE_PACKET ? roce_transport(&r, ip, p) : verdict;
}

ROCE_INLINE enum roce_verdict roce_decode_headers(const struct roce_frame *frame,
						  struct roce_packet *p, struct roce_ip *ip)
{
	struct roce_reader r = {frame, 0, 0};
	enum roce_verdict verdict;
	__u32 type = frame->type;

	if (type == 0) {
		r.offset = ROCE_MAC_SIZE;
		if (!roce_ether_type(&r, &type, &verdict))
			return verdict;
	}
	verdict = roce_network(&r, type, ip);
	return verdict == ROCE_PACKET ? roce_transport(&r, ip, p) : verdict;
}

ROCE_INLINE enum roce_verdict roce_decode(const struct roce_frame *frame, struct roce_packet *p)
{
	struct roce_ip ip = {.header = NULL};
	enum roce_verdict verdict = ROCE_CUT;

	if (roce_is_plain4(frame))
		verdict = roce_decode_plain4(frame, p, &ip);
	else if (roce_is_plain6(frame))
		verdict = roce_decode_plain6(frame, p, &ip);
	if (verdict == ROCE_CUT)
		verdict = roce_decode_headers(frame, p, &ip);

	if (ip.header)
		roce_ip_addresses(&ip, p->saddr, p->daddr);
	return verdict;
}
