/* pcap_write.h - the heads of a pcap file and of its packets: nanoseconds, Ethernet, this machine's
 * byte order. Pure. */
#pragma once

#include "capture_file.h"

struct pcap_file_head {
	uint32_t magic;
	uint16_t major, minor;
	uint32_t reserved[2], snaplen, link;
};

struct pcap_packet_head {
	uint32_t s, ns, captured, length;
};

static inline struct pcap_file_head pcap_file_head(void)
{
	return (struct pcap_file_head){.magic = 0xa1b23c4d,
				       .major = 2,
				       .minor = 4,
				       .snaplen = CAPTURE_PACKET_MAX,
				       .link = LINKTYPE_ETHERNET};
}

static inline struct pcap_packet_head pcap_packet_head(const struct capture_packet *p)
{
	return (struct pcap_packet_head){(uint32_t)(p->time_ns / 1000000000),
					 (uint32_t)(p->time_ns % 1000000000), p->captured,
					 p->length};
}
