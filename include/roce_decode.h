/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* roce_decode.h - decodes the RoCE headers of one Ethernet frame. Shared by the BPF programs,
 * captures and the sniffer.
 *
 * Only bounded reads, which the verifier proves in the kernel and the fuzzer tests in user space.
 * No libc, no unbounded loops. roce_wire.h lists the sources; in addition RFC 6946 (a fragment
 * header on a whole packet). */
#pragma once

#include "roce_reader.h"

#define ROCE_VLANS_MAX	    4
#define ROCE_EXTENSIONS_MAX 8 /* most IPv6 extension headers that are parsed */

enum roce_verdict {
	ROCE_OTHER,    /* not recognized as RoCE */
	ROCE_PACKET,   /* has a whole BTH, and an AETH/RETH if its opcode requires one */
	ROCE_FRAGMENT, /* the first fragment of an IP packet to UDP 4791: counted, not parsed. Later
			  fragments have no port and are ROCE_OTHER, so that a packet counts once */
	ROCE_MALFORMED, /* RoCE, but too short or inconsistent */
	ROCE_PAUSE,	/* a MAC control frame: 802.3x pause or PFC */
	ROCE_CUT,	/* undecided: the frame is truncated before a header that is needed */
};

struct roce_packet {
	__u8 saddr[16], daddr[16]; /* IPv4 as ::ffff:a.b.c.d; RoCEv1: the GRH's GIDs */
	__u32 qpn, psn;		   /* destination QPN, PSN: 24 bits */
	__u8 version;		   /* 1 or 2 */
	__u8 ip;		   /* 4 or 6; RoCEv1: 6 */
	__u8 traffic_class;	   /* TOS: DSCP << 2 | ECN */
	__u8 opcode;		   /* BTH's */
	__u8 transport, op;	   /* opcode >> 5, enum roce_op */
	__u8 op_index;		   /* ROCE_OP_INDEX of both */
	__u8 syndrome;		   /* raw AETH syndrome, 0 without AETH */
	__u8 syndrome_class;	   /* enum roce_syndrome */
	bool has_aeth, has_reth;
	bool solicited, fecn, becn, ack_request, cnp;
	__u16 pkey;
	__u16 source_port; /* UDP's; RoCEv1: 0 */
	__u32 reth_length; /* bytes of the DMA, 0 without RETH */
	/* From the frame's start to the IP header or GRH, to the BTH, to the ICRC. */
	__u32 network_offset, bth_offset, icrc_offset;
} __attribute__((aligned(8)));

/* The fields of the IP header or GRH that later steps need. */
struct roce_ip {
	const __u8 *header;
	__u64 offset; /* offset of the header in the frame */
	__u64 end;    /* end of the payload, according to the header */
	__u8 family;  /* 4 or 6 */
	__u8 version; /* RoCE version */
	__u8 traffic_class;
	bool first; /* first of several fragments */
};

/* Result of roce_find(): valid with ROCE_PACKET; with ROCE_FRAGMENT only `ip` and `source_port`. */
struct roce_found {
	struct roce_ip ip;
	__u16 source_port; /* UDP's */
	const __u8 *bth;
	struct roce_reader reader; /* positioned before the BTH */
	__u32 size;		   /* bytes from the BTH to the end of the ICRC */
};

/* Decodes a frame. With ROCE_PACKET all of *p is valid; with ROCE_FRAGMENT the addresses, the
 * traffic class, network_offset and the source port; otherwise nothing. */
ROCE_INLINE enum roce_verdict roce_decode(const struct roce_frame *, struct roce_packet *p);
/* roce_decode() in two steps: roce_find() checks for RoCE, roce_decode_found() reads the headers.
 * The addresses are not set; roce_ip_addresses() returns them. */
ROCE_INLINE enum roce_verdict roce_find(const struct roce_frame *, struct roce_found *);
ROCE_INLINE enum roce_verdict roce_decode_found(struct roce_found *, struct roce_packet *p);
ROCE_INLINE void roce_ip_addresses(const struct roce_ip *, __u8 saddr[16], __u8 daddr[16]);
/* Fast path of roce_find() for most packets: no tag, IPv4 without options or IPv6, no extension
 * headers, no padding, everything up to the end of the BTH in the buffer. ROCE_CUT: undecided, call
 * roce_find(). */
ROCE_INLINE enum roce_verdict roce_find_plain(const struct roce_frame *, struct roce_found *);

/* --- implementation --------------------------------------------------------------------------- */

/* Returns the verdict when the next n bytes are not in the buffer: if_none if the frame ends before
 * them, else ROCE_CUT. */
ROCE_INLINE enum roce_verdict roce_missing(const struct roce_reader *r, __u32 n,
					   enum roce_verdict if_none)
{
	return r->offset + n > r->frame->length ? if_none : ROCE_CUT;
}

ROCE_INLINE enum roce_verdict roce_aeth(struct roce_found *f, struct roce_packet *p)
{
	__u32 before = ROCE_BTH_SIZE + (p->transport == ROCE_RD ? ROCE_RDETH_SIZE : 0);
	const __u8 *aeth;

	if (f->size < before + ROCE_AETH_SIZE + ROCE_ICRC_SIZE)
		return ROCE_MALFORMED;
	roce_pass(&f->reader, before);
	aeth = roce_peek(&f->reader, ROCE_AETH_SIZE);
	if (!aeth)
		return roce_missing(&f->reader, ROCE_AETH_SIZE, ROCE_MALFORMED);
	p->syndrome = aeth[0];
	p->syndrome_class = roce_syndromes[aeth[0]];
	return ROCE_PACKET;
}

ROCE_INLINE enum roce_verdict roce_reth(struct roce_found *f, struct roce_packet *p)
{
	__u32 before = ROCE_BTH_SIZE;
	const __u8 *reth;

	if (p->transport == ROCE_RD)
		before += ROCE_RDETH_SIZE + ROCE_DETH_SIZE;
	else if (p->transport == ROCE_XRC)
		before += ROCE_XRCETH_SIZE;
	if (f->size < before + ROCE_RETH_SIZE + ROCE_ICRC_SIZE)
		return ROCE_MALFORMED;
	roce_pass(&f->reader, before);
	reth = roce_peek(&f->reader, ROCE_RETH_SIZE);
	if (!reth)
		return roce_missing(&f->reader, ROCE_RETH_SIZE, ROCE_MALFORMED);
	p->reth_length = roce_u32(reth + 12); /* after the address and the key */
	return ROCE_PACKET;
}

/* Reads whole words: the compiler has few registers and must keep few values. */
ROCE_INLINE void roce_bth_fields(const __u8 *bth, struct roce_packet *p)
{
	__u32 head = roce_u32(bth), destination = roce_u32(bth + 4), sequence = roce_u32(bth + 8);
	__u8 what = roce_opcodes[bth[0]];

	p->opcode = bth[0];
	p->op_index = what & ROCE_INDEX_MASK;
	p->transport = p->op_index >> 3;
	p->op = what & 7;
	p->has_aeth = what & ROCE_HAS_AETH;
	p->has_reth = what & ROCE_HAS_RETH;
	p->cnp = p->opcode == ROCE_CNP;
	p->solicited = head >> 23 & 1;
	p->pkey = head & 0xffff;
	p->fecn = destination >> 31;
	p->becn = destination >> 30 & 1;
	p->qpn = destination & 0xffffff;
	p->ack_request = sequence >> 31;
	p->psn = sequence & 0xffffff;
	p->syndrome = p->syndrome_class = 0;
	p->reth_length = 0;
}

/* Copies with the width that hash tables compare: a wide load after two narrow stores stalls until
 * both complete. */
ROCE_INLINE void roce_copy_gid(__u8 *to, const __u8 *from)
{
	((__u64 *)(void *)to)[0] = roce_raw64(from);
	((__u64 *)(void *)to)[1] = roce_raw64(from + 8);
}

/* Copies an IPv4 address as ::ffff:a.b.c.d. */
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

/* The network headers. Each function moves the reader past its header and returns ROCE_PACKET if a
 * UDP header or, with RoCEv1, a BTH follows, so that the code for the next header exists only once
 * in the program. */
ROCE_INLINE enum roce_verdict roce_ip4(struct roce_reader *r, struct roce_ip *ip)
{
	const __u8 *header = roce_peek(r, ROCE_IP4_SIZE);
	__u32 size, total, fragment;

	if (!header)
		return roce_missing(r, ROCE_IP4_SIZE, ROCE_OTHER);
	size = (header[0] & 0xf) * 4;
	total = roce_u16(header + 2);
	fragment = roce_u16(header + 6);
	if (header[9] != ROCE_PROTOCOL_UDP || header[0] >> 4 != 4 || size < ROCE_IP4_SIZE ||
	    total < size || (fragment & 0x1fff) != 0)
		return ROCE_OTHER;
	*ip = (struct roce_ip){.header = header,
			       .offset = r->offset,
			       .end = r->offset + total,
			       .family = 4,
			       .version = 2,
			       .traffic_class = header[1],
			       .first = (fragment & 0x2000) != 0}; /* more fragments */
	roce_pass_variable(r, size);
	return ROCE_PACKET;
}

/* Skips the headers between IPv6 and UDP. */
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
		roce_pass_variable(r, (length + (kind >> 4)) * (kind & 0xf));
	}
	return ROCE_OTHER;
}

/* Parses an IPv6 header or a GRH, which has the same layout (annex A16.4.2). */
ROCE_INLINE enum roce_verdict roce_ip6(struct roce_reader *r, bool grh, struct roce_ip *ip)
{
	const __u8 *header = roce_peek(r, ROCE_IP6_SIZE);
	enum roce_verdict wrong = grh ? ROCE_MALFORMED : ROCE_OTHER;

	if (!header)
		return roce_missing(r, ROCE_IP6_SIZE, wrong);
	if (header[0] >> 4 != 6 || (grh && header[6] != ROCE_GRH_NEXT))
		return wrong;
	*ip = (struct roce_ip){.header = header,
			       .offset = r->offset,
			       .end = r->offset + ROCE_IP6_SIZE + roce_u16(header + 4),
			       .family = 6,
			       .version = grh ? 1 : 2,
			       .traffic_class = roce_u16(header) >> 4};
	roce_pass(r, ROCE_IP6_SIZE);
	return grh ? ROCE_PACKET : roce_pass_extensions(r, ip, header[6]);
}

/* Moves past the UDP header if its port is RoCE's. */
ROCE_INLINE enum roce_verdict roce_udp(struct roce_found *f)
{
	const __u8 *udp = roce_peek(&f->reader, ROCE_UDP_SIZE);
	__u64 offset = f->reader.offset;
	__u32 size;

	if (offset + ROCE_UDP_SIZE > f->ip.end)
		return ROCE_OTHER;
	if (!udp)
		return roce_missing(&f->reader, ROCE_UDP_SIZE, ROCE_OTHER);
	if (roce_u16(udp + 2) != ROCE_UDP_PORT)
		return ROCE_OTHER;
	f->source_port = roce_u16(udp);
	if (f->ip.first)
		return ROCE_FRAGMENT;
	size = roce_u16(udp + 4);
	if (size < ROCE_UDP_SIZE || offset + size > f->ip.end)
		return ROCE_MALFORMED;
	roce_pass(&f->reader, ROCE_UDP_SIZE);
	f->size = size - ROCE_UDP_SIZE;
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

/* Moves from the end of the MAC addresses past the VLAN tags to the network header. ROCE_PACKET:
 * *type is its EtherType. */
ROCE_INLINE enum roce_verdict roce_ether_type(struct roce_reader *r, __u32 *type)
{
	const __u8 *at = roce_peek(r, 2);

	for (int i = 0; at; i++) {
		*type = roce_u16(at);
		roce_pass(r, 2);
		if (!roce_is_vlan(*type))
			return ROCE_PACKET;
		if (i == ROCE_VLANS_MAX)
			return ROCE_OTHER;
		roce_pass_variable(r, 2);
		at = roce_peek(r, 2);
	}
	return roce_missing(r, 2, ROCE_OTHER);
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

/* Parses the payload of the network header up to the end of the BTH. */
ROCE_INLINE enum roce_verdict roce_transport(struct roce_found *f)
{
	enum roce_verdict verdict = ROCE_PACKET;

	f->source_port = 0;
	f->size = f->ip.end - f->reader.offset; /* RoCEv1; roce_udp() sets it for RoCEv2 */
	if (f->ip.version == 2)
		verdict = roce_udp(f);
	if (verdict != ROCE_PACKET)
		return verdict;
	if (f->ip.end > f->reader.frame->length || f->size < ROCE_BTH_SIZE + ROCE_ICRC_SIZE)
		return ROCE_MALFORMED;
	f->bth = roce_peek(&f->reader, ROCE_BTH_SIZE);
	return f->bth ? ROCE_PACKET : roce_missing(&f->reader, ROCE_BTH_SIZE, ROCE_MALFORMED);
}

ROCE_INLINE enum roce_verdict roce_find(const struct roce_frame *frame, struct roce_found *ret)
{
	enum roce_verdict verdict = ROCE_PACKET;
	__u32 type = frame->type;

	ret->reader = (struct roce_reader){.frame = frame};
	if (type == 0) {
		ret->reader.offset = ROCE_MAC_SIZE;
		verdict = roce_ether_type(&ret->reader, &type);
	}
	if (verdict == ROCE_PACKET)
		verdict = roce_network(&ret->reader, type, &ret->ip);
	return verdict == ROCE_PACKET ? roce_transport(ret) : verdict;
}

/* Sizes of plain frames, up to the end of the BTH. */
#define ROCE_ETHERNET_SIZE (ROCE_MAC_SIZE + 2)
#define ROCE_PLAIN4_SIZE   (ROCE_IP4_SIZE + ROCE_UDP_SIZE + ROCE_BTH_SIZE)
#define ROCE_PLAIN6_SIZE   (ROCE_IP6_SIZE + ROCE_UDP_SIZE + ROCE_BTH_SIZE)

/* Parses a plain packet from the end of the network header; size: of that header; carries: the
 * payload length in it. */
ROCE_INLINE enum roce_verdict roce_plain_udp(const struct roce_frame *frame, __u32 size,
					     __u32 carries, struct roce_found *ret)
{
	__u32 offset = ROCE_ETHERNET_SIZE + size;
	const __u8 *udp = (const __u8 *)frame->start + offset;
	__u32 length = roce_u16(udp + 4);

	if (length != carries || length < ROCE_UDP_SIZE + ROCE_BTH_SIZE + ROCE_ICRC_SIZE ||
	    offset + length > frame->length)
		return ROCE_CUT;
	ret->ip.header = (const __u8 *)frame->start + ROCE_ETHERNET_SIZE;
	ret->ip.offset = ROCE_ETHERNET_SIZE;
	ret->ip.end = offset + length;
	ret->ip.version = 2;
	ret->ip.first = false;
	ret->bth = udp + ROCE_UDP_SIZE;
	ret->reader = (struct roce_reader){frame, offset + ROCE_UDP_SIZE};
	ret->size = length - ROCE_UDP_SIZE;
	ret->source_port = roce_u16(udp);
	return ROCE_PACKET;
}

ROCE_INLINE enum roce_verdict roce_plain4(const struct roce_frame *frame, const __u8 *ip,
					  struct roce_found *ret)
{
	if (ip[9] != ROCE_PROTOCOL_UDP || roce_u16(ip + ROCE_IP4_SIZE + 2) != ROCE_UDP_PORT)
		return ROCE_OTHER;
	if (roce_u16(ip + 6) & 0x3fff) /* a fragment */
		return ROCE_CUT;
	ret->ip.family = 4;
	ret->ip.traffic_class = ip[1];
	return roce_plain_udp(frame, ROCE_IP4_SIZE, roce_u16(ip + 2) - ROCE_IP4_SIZE, ret);
}

ROCE_INLINE enum roce_verdict roce_plain6(const struct roce_frame *frame, const __u8 *ip,
					  struct roce_found *ret)
{
	if (ip[6] != ROCE_PROTOCOL_UDP)
		return roce_extensions[ip[6]] ? ROCE_CUT : ROCE_OTHER;
	if (roce_u16(ip + ROCE_IP6_SIZE + 2) != ROCE_UDP_PORT)
		return ROCE_OTHER;
	ret->ip.family = 6;
	ret->ip.traffic_class = roce_u16(ip) >> 4;
	return roce_plain_udp(frame, ROCE_IP6_SIZE, roce_u16(ip + 4), ret);
}

ROCE_INLINE enum roce_verdict roce_find_plain(const struct roce_frame *frame,
					      struct roce_found *ret)
{
	const __u8 *ip = (const __u8 *)frame->start + ROCE_ETHERNET_SIZE;
	__u16 type;

	if (frame->type != 0 || (const void *)(ip + ROCE_PLAIN4_SIZE) > frame->end)
		return ROCE_CUT;
	type = roce_u16(ip - 2);
	if (type == ROCE_TYPE_IP4 && ip[0] == 0x45)
		return roce_plain4(frame, ip, ret);
	if (type == ROCE_TYPE_IP6 && ip[0] >> 4 == 6 &&
	    (const void *)(ip + ROCE_PLAIN6_SIZE) <= frame->end)
		return roce_plain6(frame, ip, ret);
	return ROCE_CUT;
}

ROCE_INLINE void roce_ip_fields(const struct roce_found *f, struct roce_packet *p)
{
	p->version = f->ip.version;
	p->ip = f->ip.family;
	p->traffic_class = f->ip.traffic_class;
	p->network_offset = f->ip.offset;
	p->source_port = f->source_port;
}

ROCE_INLINE enum roce_verdict roce_decode_found(struct roce_found *f, struct roce_packet *p)
{
	roce_ip_fields(f, p);
	roce_bth_fields(f->bth, p);
	p->bth_offset = f->reader.offset;
	p->icrc_offset = f->reader.offset + f->size - ROCE_ICRC_SIZE;
	if (p->has_aeth)
		return roce_aeth(f, p);
	if (p->has_reth)
		return roce_reth(f, p);
	return ROCE_PACKET;
}

ROCE_INLINE enum roce_verdict roce_decode(const struct roce_frame *frame, struct roce_packet *p)
{
	struct roce_found f = {.ip.header = NULL};
	enum roce_verdict verdict = roce_find_plain(frame, &f);

	if (verdict == ROCE_CUT)
		verdict = roce_find(frame, &f);
	if (verdict == ROCE_PACKET)
		verdict = roce_decode_found(&f, p);
	else if (verdict == ROCE_FRAGMENT)
		roce_ip_fields(&f, p);
	if (f.ip.header)
		roce_ip_addresses(&f.ip, p->saddr, p->daddr);
	return verdict;
}
