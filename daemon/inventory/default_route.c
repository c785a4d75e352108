// SPDX-License-Identifier: Apache-2.0
/* default_route.c - walks down from the netdevs with a default route, visiting each netdev once. */
#include "default_route.h"

#include <stdlib.h>
#include <string.h>

struct walk {
	const struct host_index *index;
	const struct netdev **through;
	const struct netdev **queue;
	size_t head, tail;
};

static void default_visit(struct walk *w, const struct netdev *nd, const struct netdev *route)
{
	const struct netdev **through = &w->through[nd - w->index->host->netdevs];

	if (*through)
		return;
	*through = route;
	w->queue[w->tail++] = nd;
}

static bool default_is_kind(const struct netdev *nd, const char *kind)
{
	return strcmp(nd->kind, kind) == 0;
}

/* Visits the parent of a VLAN, macvlan or tunnel. The peer of a veth or netkit pair is no
 * parent. */
static void visit_lower(struct walk *w, const struct netdev *nd, const struct netdev *route)
{
	const struct netdev *lower;

	if (nd->lower == 0 || default_is_kind(nd, "veth") || default_is_kind(nd, "netkit"))
		return;
	lower = host_index_netdev(w->index, NSID_HOST, nd->lower);
	if (lower)
		default_visit(w, lower, route);
}

/* Is `master` nd's own ifindex, or an Open vSwitch device while nd is one, too? Netlink does not
 * report which ports an Open vSwitch device is connected to, so assume all of them. */
static bool is_above(const struct host_index *ix, const struct netdev *nd, int master)
{
	const struct netdev *m;

	if (nd->ifindex == master)
		return true;
	m = default_is_kind(nd, "openvswitch") ? host_index_netdev(ix, NSID_HOST, master) : NULL;
	return m && default_is_kind(m, "openvswitch");
}

/* A hardware function is never a master, so it has no members. */
static void visit_members(struct walk *w, const struct netdev *nd, const struct netdev *route)
{
	const struct host *h = w->index->host;

	if (nd->function[0] != '\0')
		return;
	for (size_t i = 0; i < h->n_netdevs; i++) {
		const struct netdev *member = &h->netdevs[i];

		if (member->nsid == NSID_HOST && member->master &&
		    is_above(w->index, nd, member->master))
			default_visit(w, member, route);
	}
}

static void walk_down(struct walk *w)
{
	const struct host *h = w->index->host;

	for (size_t i = 0; i < h->n_netdevs; i++)
		if (h->netdevs[i].nsid == NSID_HOST && h->netdevs[i].default_route)
			default_visit(w, &h->netdevs[i], &h->netdevs[i]);
	while (w->head < w->tail) {
		const struct netdev *nd = w->queue[w->head++];
		const struct netdev *route = w->through[nd - h->netdevs];

		visit_lower(w, nd, route);
		visit_members(w, nd, route);
	}
}

const struct netdev **default_routes(const struct host_index *ix)
{
	size_t n = ix->host->n_netdevs + 1;
	struct walk w = {.index = ix,
			 .through = calloc(n, sizeof(struct netdev *)),
			 .queue = calloc(n, sizeof(struct netdev *))};

	if (w.through && w.queue) {
		walk_down(&w);
	} else {
		free(w.through);
		w.through = NULL;
	}
	free(w.queue);
	return w.through;
}
