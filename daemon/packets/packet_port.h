/* SPDX-License-Identifier: Apache-2.0 */
/* packet_port.h - attaches our packet program to one interface, reads its counters, and detaches
 * it. Synchronous, for workers; does not log.
 *
 * Each interface has its own instance of the program and its own maps, so closing it removes
 * everything. Programs only count: they return TCX_NEXT / TC_ACT_UNSPEC / XDP_PASS and change
 * nothing. Nothing is pinned. */
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

/* Attaches the program on a temporary thread inside the namespace. *ret_hook: the hook used.
 * -EPERM, -ENODEV (the interface was removed), -EBUSY (XDP is in use), -EOPNOTSUPP (not Ethernet),
 * -ENOMEM and others have a message; nothing stays attached. With clsact, the namespace is held
 * until the port is closed. */
int packet_port_open(struct packet_port_fd **ret, const struct packet_port_spec *,
		     enum packet_hook *ret_hook, struct err *);
/* Detaches the program; p may be NULL. Removes the clsact qdisc if we created it and it has no
 * other filters. A negative errno: filters may remain in clsact, until the next start replaces
 * them. */
int packet_port_close(struct packet_port_fd *);
/* Reads the counters as sums over the CPUs. On error, *ret is unchanged. */
int packet_port_read(const struct packet_port_fd *, struct roce_counts ret[N_ROCE_DIRECTIONS]);
/* Called for each flow in the table, possibly twice for some while flows are added and removed. A
 * return value other than 0 ends the walk and is returned. */
typedef int packet_flow_fn(const struct roce_flow_key *, const struct roce_flow *, void *arg);
int packet_port_flows(const struct packet_port_fd *, packet_flow_fn *, void *arg);
/* Returns the number of bytes of its maps, by the kernel's accounting. */
uint64_t packet_port_memory(const struct packet_port_fd *);
