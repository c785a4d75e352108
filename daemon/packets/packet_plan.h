/* SPDX-License-Identifier: Apache-2.0 */
/* packet_plan.h - decides which interfaces the packet programs watch, from the inventory, our
 * attachments and the configuration. Pure.
 *
 * The watched interfaces are configured interfaces in our own namespace, and the netdevs of
 * soft-RoCE devices in our namespace, in other namespaces of the inventory, and in pods to which we
 * attached one. Other devices in pods are watched only if configured, because few packets of
 * hardware RoCE pass through the kernel, and each port costs memory on every CPU. */
#pragma once

#include "attach_status.h"
#include "model.h"
#include "options.h"
#include "packet_sample.h"

struct packet_wanted {
	/* For display; hook, error and memory are filled in later. */
	struct packet_port port;
	/* To open its namespace; path "": ours, or not reachable. Without an inode, only the path
	 * identifies it. */
	struct netns_id netns;
	bool xdp;
};

struct packet_plan {
	struct packet_wanted *items; /* sorted by packet_wanted_cmp(); each interface once */
	size_t n;
};

/* Builds the plan, and replaces *plan. A configured netdev that does not exist is an item without
 * an index. -ENOMEM leaves *plan unchanged. */
int packet_plan_build(struct packet_plan *, const struct host *, struct attach_list,
		      const struct options *);
void packet_plan_done(struct packet_plan *);

/* Compares by namespace, then interface. 0: the same interface, as far as known. */
int packet_wanted_cmp(const struct packet_wanted *, const struct packet_wanted *);
/* True if it is the same interface, to be watched in the same way. */
bool packet_wanted_same(const struct packet_wanted *, const struct packet_wanted *);
