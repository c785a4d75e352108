/* link_events.h - the kernel's netlink events in the loop: rtnetlink links of every namespace we
 * have an id for, default routes, RDMA netlink's notify group, and devlink's events. Hints only;
 * this socket is never asked anything.
 */
#pragma once

#include <stdbool.h>

#include "err.h"
#include "inventory.h"

struct uv_loop_s;
struct link_events;
struct self_counters;

struct link_hooks {
	/* As uevents_hint_fn: enum scan_part bits, or everything after a loss. */
	void (*hint)(unsigned parts, bool lost, void *arg);
	/* An address of this netdev came or went. */
	void (*address)(int nsid, int ifindex, void *arg);
	void *arg;
};

/* The inventory tells which links matter and must outlive it. An RDMA group the kernel does not
 * have is told in the log and done without. */
int link_events_open(struct link_events **ret, struct uv_loop_s *, unsigned buffer_bytes,
		     struct self_counters *, const struct inventory *, const struct link_hooks *,
		     struct err *);
/* NULL is fine. Freed once its handles have closed. */
void link_events_close(struct link_events *);
