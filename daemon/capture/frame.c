#include "frame.h"

#include "cleanup.h"

#define COOKED	0x10 /* bytes; the EtherType is the last two */
#define COOKED2 0x14 /* bytes; the EtherType is the first two */

/* From byte n on; what is there has this EtherType, 0: a frame begins there. */
static bool from(struct roce_frame *f, const struct capture_packet *p, uint32_t n, uint32_t type)
{
	*f = (struct roce_frame){.start = p->bytes + n,
				 .end = p->bytes + p->captured,
				 .length = p->length - n,
				 .type = type};
	return true;
}

/* A cooked header is followed by VLAN tags, as an Ethernet header is. */
static bool behind_tags(struct roce_frame *f, const struct capture_packet *p, uint32_t n,
			uint32_t type)
{
	for (int i = 0; roce_is_vlan(type) && i < ROCE_VLANS_MAX; i++) {
		if (p->captured < n + 4)
			return false;
		type = roce_u16(p->bytes + n + 2);
		n += 4;
	}
	return type != 0 && from(f, p, n, type);
}

static bool of_ip(struct roce_frame *f, const struct capture_packet *p)
{
	return from(f, p, 0, p->bytes[0] >> 4 == 6 ? ROCE_TYPE_IP6 : ROCE_TYPE_IP4);
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
		return p->captured >= ethernet && from(ret, p, 0, 0);
	case LINKTYPE_SLL:
		*ret_bytes = p->length - COOKED + ethernet;
		return p->captured >= COOKED &&
		       behind_tags(ret, p, COOKED, roce_u16(p->bytes + COOKED - 2));
	case LINKTYPE_SLL2:
		*ret_bytes = p->length - COOKED2 + ethernet;
		return p->captured >= COOKED2 && behind_tags(ret, p, COOKED2, roce_u16(p->bytes));
	case LINKTYPE_RAW:
	case LINKTYPE_IPV4:
	case LINKTYPE_IPV6:
		*ret_bytes = p->length + ethernet;
		return p->captured > 0 && of_ip(ret, p);
	}
	return false;
}
