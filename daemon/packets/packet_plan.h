/* packet_plan.h - which interfaces the packet programs are to watch: the inventory x what we
 * attached to pods x the configuration. Pure.
 *
 * Watched are the netdevs of soft-RoCE devices, here, in namespaces that the inventory knows and in
 * pods that we attached one to; and what is configured, in our own namespace. Other devices that we
 * attached to pods only if that is configured, too: of hardware RoCE hardly anything passes the
 * kernel, and each costs memory on every CPU. */
#pragma once

#include "attach_status.h"
#include "model.h"
#include "options.h"
#include "packet_sample.h"

struct packet_wanted {
	/* As it will be shown; hook, error and memory are still to come. */
	struct packet_port port;
	/* By which its namespace is opened; path "": ours, or no way into it is known. Without an
	 * inode the path is all there is. */
	struct netns_id netns;
	bool xdp;
};

struct packet_plan {
	struct packet_wanted *items; /* sorted by packet_wanted_cmp(); each interface once */
	size_t n;
};

/* Replaces *plan. A configured netdev that is not there is an item without an index. -ENOMEM leaves
 * it as it was. */
int packet_plan_build(struct packet_plan *, const struct host *, struct attach_list,
		      const struct options *);
void packet_plan_done(struct packet_plan *);

/* By place: namespace, then interface. 0: the same interface, as far as can be told. */
int packet_wanted_cmp(const struct packet_wanted *, const struct packet_wanted *);
/* The same interface, and it is to be watched in the same way. */
bool packet_wanted_same(const struct packet_wanted *, const struct packet_wanted *);
