/* packet_socket.h - RoCE packets of a netdev, through the kernel's packet socket with a ring in
 * shared memory: linux/Documentation/networking/packet_mmap.rst, TPACKET_V3. A filter in the kernel
 * lets nothing pass but UDP port 4791, EtherType 0x8915, and what it cannot see through: IPv6 with
 * extension headers, and a second VLAN tag.
 *
 * What hardware RoCE sends and receives never comes here: see verbs_sniffer.h. */
#pragma once

#include "err.h"
#include "sniffed.h"

struct packet_socket {
	int fd;
	uint8_t *ring;
	size_t block;  /* the one that is read next */
	bool loopback; /* shows each packet twice: sent and received */
};

/* In the calling thread's network namespace; the netdev is promiscuous meanwhile. -ENODEV: no such
 * netdev; -EPERM: no CAP_NET_RAW. */
int packet_socket_open(struct packet_socket *ret, const char *netdev, struct err *);
void packet_socket_close(struct packet_socket *);
/* What has come, for at most wait_ms if nothing has. 1: go on; 0: fn wants no more; negative errno:
 * -ENETDOWN when the netdev went down or away. */
int packet_socket_next(struct packet_socket *, int wait_ms, sniffed_fn *, void *arg, struct err *);
/* Packets that came too fast, since it was last asked. */
uint64_t packet_socket_drops(const struct packet_socket *);
