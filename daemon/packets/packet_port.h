/* packet_port.h - one interface watched by our packet program: attach, read, detach. Synchronous,
 * for workers; no loop, no log.
 *
 * Each interface has its own instance of the program and its own maps, so that closing it leaves
 * nothing. Programs only count: they return TCX_NEXT / TC_ACT_UNSPEC / XDP_PASS and change nothing.
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
	bool xdp; /* at XDP, received packets only; else tcx, clsact where the kernel has no tcx */
	bool clsact;	/* without xdp: as if the kernel had no tcx */
	uint32_t flows; /* entries of its table of flows, 0 = none */
};

/* Attaches on a short-lived thread inside the namespace. *ret_hook: how it was done. -EPERM,
 * -ENODEV (the interface is gone), -EBUSY (XDP is taken), -EOPNOTSUPP (no Ethernet), -ENOMEM...: a
 * sentence; nothing stays attached. With clsact the namespace is held until the port is closed. */
int packet_port_open(struct packet_port_fd **ret, const struct packet_port_spec *,
		     enum packet_hook *ret_hook, struct err *);
/* NULL is fine. Detaches; the clsact qdisc is removed if we made it and nobody else uses it. A
 * negative errno: filters may be left below clsact, for the next start to replace. */
int packet_port_close(struct packet_port_fd *);
/* Sums over the CPUs. A negative errno leaves *ret as it was. */
int packet_port_read(const struct packet_port_fd *, struct roce_counts ret[N_ROCE_DIRECTIONS]);
/* Called for each flow in the table, for some twice while others come and go; its return value
 * other than 0 ends the walk and is returned.
 */
typedef int packet_flow_fn(const struct roce_flow_key *, const struct roce_flow *, void *arg);
int packet_port_flows(const struct packet_port_fd *, packet_flow_fn *, void *arg);
/* Bytes of its maps, as the kernel accounts them. */
uint64_t packet_port_memory(const struct packet_port_fd *);
