/* SPDX-License-Identifier: Apache-2.0 */
/* packet_port.h - watches one interface with our packet program: attach, read, detach. Synchronous,
 * for workers; no loop, no log.
 *
 * Each interface has its own instance of the program and its own maps, so closing it leaves nothing
 * behind. Programs only count: they return TCX_NEXT / TC_ACT_UNSPEC / XDP_PASS and change nothing.
 * Nothing is pinned. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "packet_sample.h"

struct packet_port_fd;

struct packet_port_spec {
	int netns_fd; /* the interface's namespace, borrowed for the call; -1 = ours */
	int ifindex;
	bool xdp; /* use XDP, received packets only; else tcx, or clsact if the kernel has no tcx */
	bool clsact;	/* without xdp: use clsact even if the kernel has tcx */
	uint32_t flows; /* entries of its flow table, 0 = none */
};

/* Attaches on a short-lived thread inside the namespace. *ret_hook: the hook used. -EPERM, -ENODEV
 * (the interface was removed), -EBUSY (XDP is in use), -EOPNOTSUPP (not Ethernet), -ENOMEM...: with
 * a message; nothing stays attached. With clsact, the namespace is held until the port is
 * closed. */
int packet_port_open(struct packet_port_fd **ret, const struct packet_port_spec *,
		     enum packet_hook *ret_hook, struct err *);
/* NULL is fine. Detaches; removes the clsact qdisc if we created it and it has no other filters. A
 * negative errno: filters may remain in clsact, until the next start replaces them. */
int packet_port_close(struct packet_port_fd *);
/* Sums over the CPUs. A negative errno leaves *ret unchanged. */
int packet_port_read(const struct packet_port_fd *, struct roce_counts ret[N_ROCE_DIRECTIONS]);
/* Called for each flow in the table, possibly twice for some while flows are added and removed. A
 * return value other than 0 ends the walk and is returned. */
typedef int packet_flow_fn(const struct roce_flow_key *, const struct roce_flow *, void *arg);
int packet_port_flows(const struct packet_port_fd *, packet_flow_fn *, void *arg);
/* Bytes of its maps, by the kernel's accounting. */
uint64_t packet_port_memory(const struct packet_port_fd *);
