/* SPDX-License-Identifier: Apache-2.0 */
/* packet_socket.h - captures the RoCE packets of a netdev with a packet socket and a ring in shared
 * memory: linux/Documentation/networking/packet_mmap.rst, TPACKET_V3. A filter in the kernel
 * accepts UDP port 4791, EtherType 0x8915, and packets that it cannot check: IPv6 with extension
 * headers, and a second VLAN tag.
 *
 * Packets of RoCE in hardware never pass here: see verbs_sniffer.h. */
#pragma once

#include "err.h"
#include "hw.h"
#include "sniffed.h"

struct packet_socket {
	int fd;
	uint8_t *ring;
	size_t block;  /* index of the block to read next */
	bool loopback; /* loopback delivers each packet twice, so sent ones are skipped */
};

/* Opens the socket in the calling thread's network namespace; the netdev is promiscuous while it is
 * open. -ENODEV: no such netdev; -EPERM: no CAP_NET_RAW. */
int packet_socket_open(struct packet_socket *ret, const char *netdev, struct err *);
void packet_socket_close(struct packet_socket *);
/* Calls fn for received packets; waits at most wait_ms if there are none. 1: continue; 0: fn
 * returned false; negative errno: -ENETDOWN if the netdev went down or was removed. */
int packet_socket_next(struct packet_socket *, int wait_ms, sniffed_fn *, void *arg, struct err *);
/* Returns the number of packets dropped since the last call because the ring was full. */
uint64_t packet_socket_drops(const struct packet_socket *);

/* Finds the netdev and the RDMA device for a name, using sysfs only. The name may be that of
 * either, or of their function. */

struct sniff_target {
	char netdev[IFNAMSIZ];	   /* "" = none in our namespace */
	char rdma[RDMA_NAME_SIZE]; /* "" = none */
	bool soft; /* software RDMA device: all its packets pass through the netdev */
};

/* Finds the netdev and the RDMA device. -ENODEV: no object has that name. */
int sniff_target_find(const struct hw *, const char *name, struct sniff_target *ret);
/* True if the RDMA device is implemented in software by the kernel. False for devices that are not
 * in sysfs: these are in another namespace, where no soft-RoCE device can be. */
bool sniff_target_is_soft(const struct hw *, const char *rdma);
