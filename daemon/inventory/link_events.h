/* SPDX-License-Identifier: Apache-2.0 */
/* link_events.h - netlink events in the loop: rtnetlink links of every namespace that has an id
 * here, default routes, the notify group of RDMA netlink, and devlink. Events are only hints; these
 * sockets send no requests. */
#pragma once

#include <stdbool.h>

#include "err.h"
#include "inventory.h"

struct uv_loop_s;
struct link_events;
struct self_counters;

struct link_hooks {
	/* As uevents_hint_fn: enum scan_part bits; lost: anything may have changed. */
	void (*hint)(unsigned parts, bool lost, void *arg);
	/* An address of this netdev was added or removed. */
	void (*address)(int nsid, int ifindex, void *arg);
	void *arg;
};

/* Starts to receive events. The inventory decides which links are relevant; it must outlive the
 * result. A kernel without the RDMA notify group is logged; uevents are used instead. */
int link_events_open(struct link_events **ret, struct uv_loop_s *, unsigned buffer_bytes,
		     struct self_counters *, const struct inventory *, const struct link_hooks *,
		     struct err *);
/* Closes the sockets; the object is freed once its handles have closed. May be NULL. */
void link_events_close(struct link_events *);
