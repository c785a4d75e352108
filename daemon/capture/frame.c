// SPDX-License-Identifier: Apache-2.0
#include "frame.h"

#include <arpa/inet.h>
#include <endian.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include "cleanup.h"

const char *roce_transport_name(unsigned transport)
{
	static const char *const names[N_ROCE_TRANSPORTS] = {
		[ROCE_RC] = "rc", [ROCE_UC] = "uc",   [ROCE_RD] = "rd", [ROCE_UD] = "ud",
		[4] = "cnp",	  [ROCE_XRC] = "xrc", [6] = "6",	[7] = "7",
	};

	return names[transport % N_ROCE_TRANSPORTS];
}

const char *roce_op_name(enum roce_op op)
{
	static const char *const names[N_ROCE_OPS] = {
		[ROCE_SEND] = "send",
		[ROCE_WRITE] = "write",
		[ROCE_READ_REQUEST] = "readRequest",
		[ROCE_READ_RESPONSE] = "readResponse",
		[ROCE_ACK] = "ack",
		[ROCE_ATOMIC] = "atomic",
		[ROCE_ATOMIC_ACK] = "atomicAck",
		[ROCE_OP_OTHER] = "other",
	};

	return names[op];
}

const char *roce_syndrome_name(enum roce_syndrome syndrome)
{
	static const char *const names[N_ROCE_SYNDROMES] = {
		[ROCE_SYN_ACK] = "ack",
		[ROCE_SYN_RNR] = "rnrNak",
		[ROCE_SYN_SEQUENCE] = "sequenceNak",
		[ROCE_SYN_INVALID_REQUEST] = "invalidRequestNak",
		[ROCE_SYN_REMOTE_ACCESS] = "remoteAccessNak",
		[ROCE_SYN_REMOTE_OPERATION] = "remoteOperationNak",
		[ROCE_SYN_INVALID_RD] = "invalidRdNak",
		[ROCE_SYN_OTHER] = "other",
	};

	return names[syndrome];
}

const char *roce_ecn_name(unsigned ecn)
{
	static const char *const names[] = {"notEct", "ect1", "ect0", "ce"};

	return names[ecn & 3];
}

void roce_address_text(const uint8_t address[16], char ret[INET6_ADDRSTRLEN])
{
	static const uint8_t ip4[12] = {[10] = 0xff, [11] = 0xff};
	bool is_ip4 = memcmp(address, ip4, sizeof(ip4)) == 0;

	if (!inet_ntop(is_ip4 ? AF_INET : AF_INET6, is_ip4 ? address + 12 : address, ret,
		       INET6_ADDRSTRLEN))
		ret[0] = '\0';
}

#define COOKED	0x10 /* bytes; the EtherType is the last two */
#define COOKED2 0x14 /* bytes; the EtherType is the first two */

/* Returns the frame that starts at byte n; type: the EtherType of these bytes, or 0 if they start
 * with an Ethernet header. */
static bool frame_at(struct roce_frame *f, const struct capture_packet *p, uint32_t n,
		     uint32_t type)
{
	*f = (struct roce_frame){.start = p->bytes + n,
				 .end = p->bytes + p->captured,
				 .length = p->length - n,
				 .type = type};
	return true;
}

/* Returns the frame after VLAN tags, which may follow a cooked header like an Ethernet header. */
static bool frame_after_tags(struct roce_frame *f, const struct capture_packet *p, uint32_t n,
			     uint32_t type)
{
	for (int i = 0; roce_is_vlan(type) && i < ROCE_VLANS_MAX; i++) {
		if (p->captured < n + 4)
			return false;
		type = roce_u16(p->bytes + n + 2);
		n += 4;
	}
	return type != 0 && frame_at(f, p, n, type);
}

static bool ip_frame(struct roce_frame *f, const struct capture_packet *p)
{
	return frame_at(f, p, 0, p->bytes[0] >> 4 == 6 ? ROCE_TYPE_IP6 : ROCE_TYPE_IP4);
}

bool link_is_known(uint32_t link)
{
	switch (link) {
	case LINKTYPE_ETHERNET:
	case LINKTYPE_RAW:
	case LINKTYPE_SLL:
	case LINKTYPE_IPV4:
	case LINKTYPE_IPV6:
	case LINKTYPE_SLL2:
		return true;
	}
	return false;
}

const char *link_name(uint32_t link)
{
	static const struct {
		uint32_t link;
		const char *name;
	} names[] = {
		{0, "NULL"},
		{9, "PPP"},
		{50, "PPP_HDLC"},
		{104, "C_HDLC"},
		{105, "IEEE802_11"},
		{108, "LOOP"},
		{127, "IEEE802_11_RADIOTAP"},
		{147, "USER0"},
		{189, "USB_LINUX"},
		{197, "ERF"},
		{220, "USB_LINUX_MMAPPED"},
		{224, "FC_2"},
		{239, "NFLOG"},
		{242, "IPOIB"},
		{247, "INFINIBAND"},
		{252, "UPPER_PDU"},
		{253, "NETLINK"},
		{271, "VSOCK"},
		{274, "ETHERNET_MPACKET"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].link == link)
			return names[i].name;
	return "";
}

bool frame_of(struct roce_frame *ret, uint32_t *ret_bytes, const struct capture_packet *p)
{
	const uint32_t ethernet = ROCE_MAC_SIZE + 2;

	switch (p->link) {
	case LINKTYPE_ETHERNET:
		*ret_bytes = p->length;
		return p->captured >= ethernet && frame_at(ret, p, 0, 0);
	case LINKTYPE_SLL:
		*ret_bytes = p->length - COOKED + ethernet;
		return p->captured >= COOKED &&
		       frame_after_tags(ret, p, COOKED, roce_u16(p->bytes + COOKED - 2));
	case LINKTYPE_SLL2:
		*ret_bytes = p->length - COOKED2 + ethernet;
		return p->captured >= COOKED2 &&
		       frame_after_tags(ret, p, COOKED2, roce_u16(p->bytes));
	case LINKTYPE_RAW:
	case LINKTYPE_IPV4:
	case LINKTYPE_IPV6:
		*ret_bytes = p->length + ethernet;
		return p->captured > 0 && ip_frame(ret, p);
	}
	return false;
}

/* --- ICRC ------------------------------------------------------------------------------------- */

#define LINK_ONES 8

static size_t header_size(const struct roce_packet *p)
{
	size_t ip = p->ip == 4 ? ROCE_IP4_SIZE : ROCE_IP6_SIZE;

	return ip + (p->version == 1 ? 0 : ROCE_UDP_SIZE) + ROCE_BTH_SIZE;
}

/* Sets the fields that routers change to ones. A GRH has the same fields as an IPv6 header. */
static void set_ones(uint8_t *at, const struct roce_packet *p, size_t headers)
{
	uint8_t *bth = at + headers - ROCE_BTH_SIZE;

	if (p->ip == 4) {
		at[1] = 0xff;
		at[8] = 0xff;
		memset(at + 10, 0xff, 2);
	} else {
		at[0] |= 0x0f;
		memset(at + 1, 0xff, 3);
		at[7] = 0xff;
	}
	if (p->version != 1)
		memset(bth - 2, 0xff, 2);
	bth[4] = 0xff;
}

static uint32_t icrc_of(const uint8_t *at, const struct roce_packet *p, size_t headers, size_t n)
{
	uint8_t ones[LINK_ONES + ROCE_IP6_SIZE + ROCE_UDP_SIZE + ROCE_BTH_SIZE];
	unsigned long crc;

	memset(ones, 0xff, LINK_ONES);
	memcpy(ones + LINK_ONES, at, headers);
	set_ones(ones + LINK_ONES, p, headers);
	crc = crc32_z(0, ones, LINK_ONES + headers);
	return (uint32_t)crc32_z(crc, at + headers, n - headers);
}

enum icrc_verdict icrc_check(const struct roce_frame *f, const struct roce_packet *p)
{
	const uint8_t *start = f->start, *at = start + p->network_offset;
	size_t headers = header_size(p), n = p->icrc_offset - p->network_offset;
	uint32_t received;

	if (p->bth_offset + ROCE_BTH_SIZE - p->network_offset != headers ||
	    p->icrc_offset + ROCE_ICRC_SIZE > (size_t)((const uint8_t *)f->end - start))
		return ICRC_UNVERIFIABLE;
	memcpy(&received, at + n, sizeof(received));
	return le32toh(received) == icrc_of(at, p, headers, n) ? ICRC_GOOD : ICRC_BAD;
}
