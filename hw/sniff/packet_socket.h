/* SPDX-License-Identifier: Apache-2.0 */
/* packet_socket.h - captures the RoCE packets of a netdev with a packet socket and a ring in shared
 * memory: linux/Documentation/networking/packet_mmap.rst, TPACKET_V3. A filter in the kernel
 * accepts UDP port 4791, EtherType 0x8915, and packets that it cannot check: IPv6 with extension
 * headers, and a second VLAN tag.
 *
 * Packets of RoCE in hardware never pass here: see verbs_sniffer.h. */
#pragma once

#include "err.h"
#include "sniffed.h"

struct packet_socket {
	int fd;
	uint8_t *ring;
	size_t block;  /* index of the block to read next */
	bool loopback; /* loopback shows each packet twice: sent ones are skipped */
};

/* Opens it in the calling thread's network namespace; sets the netdev promiscuous while open.
 * -ENODEV: no such netdev; -EPERM: no CAP_NET_RAW. */
int packet_socket_open(struct packet_socket *ret, const char *netdev, struct err *);
void packet_socket_close(struct packet_socket *);
/* Calls fn for received packets; waits at most wait_ms if there are none. 1: continue; 0: fn
 * returned false; negative errno: -ENETDOWN if the netdev went down or was removed. */
int packet_socket_next(struct packet_socket *, int wait_ms, sniffed_fn *, void *arg, struct err *);
/* Packets dropped because the ring was full, since the last call. */
uint64_t packet_socket_drops(const struct packet_socket *);
