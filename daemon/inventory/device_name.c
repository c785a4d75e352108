// SPDX-License-Identifier: Apache-2.0
#include "device_name.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Maximum depth of stacked netdevs that is followed. */
#define DEPTH_MAX 8

struct search {
	const char *name, *found;
	bool several;
	char all[160]; /* all matches, as many as fit */
};

static void found(struct search *s, const char *function)
{
	size_t len = strlen(s->all);

	if (function[0] == '\0' || (s->found && strcmp(s->found, function) == 0))
		return;
	s->several |= s->found != NULL;
	s->found = function;
	snprintf(s->all + len, sizeof(s->all) - len, "%s%s", len ? ", " : "", function);
}

static bool device_has_name(const struct netdev *nd, const char *name)
{
	if (strcmp(nd->name, name) == 0)
		return true;
	for (const char *alt = NULL; (alt = netdev_altname(nd, alt));)
		if (strcmp(alt, name) == 0)
			return true;
	return false;
}

static void search_host(struct search *s, const struct host *host)
{
	for (size_t i = 0; i < host->n_netdevs; i++)
		if (host->netdevs[i].nsid == NSID_HOST &&
		    device_has_name(&host->netdevs[i], s->name))
			found(s, host->netdevs[i].function);
	for (size_t i = 0; i < host->n_rdma; i++)
		if (host->rdma[i].nsid == NSID_HOST && strcmp(host->rdma[i].name, s->name) == 0)
			found(s, host->rdma[i].function);
}

static void search_pods(struct search *s, struct attach_list list)
{
	for (size_t i = 0; i < list.n; i++) {
		const struct attach_record *r = list.items[i].record;

		if (r->plan.kind == PLAN_VF && r->state != ATTACH_FREE &&
		    (strcmp(r->origin.name, s->name) == 0 || strcmp(r->origin.rdma, s->name) == 0))
			found(s, r->function);
	}
}

const char *device_by_name(const struct host *host, struct attach_list list, const char *name,
			   struct err *e)
{
	const struct function *fn = host_function(host, name);
	struct search s = {.name = name};

	if (fn)
		return fn->id;
	if (name[0] != '\0') {
		search_host(&s, host);
		if (!s.found)
			search_pods(&s, list);
	}
	if (s.found && !s.several)
		return s.found;
	if (s.several)
		err_set(e, -ENOTUNIQ, "%.64s is the name of several devices: use the bus name",
			name);
	else
		err_set(e, -ENODEV, "%.64s is not a device of this node", name);
	return NULL;
}

/* --- behind a netdev -------------------------------------------------------------------------- */

static const struct netdev *host_netdev_named(const struct host *h, const char *name)
{
	for (size_t i = 0; i < h->n_netdevs; i++)
		if (h->netdevs[i].nsid == NSID_HOST && device_has_name(&h->netdevs[i], name))
			return &h->netdevs[i];
	return NULL;
}

static const struct netdev *host_netdev_at(const struct host *h, int ifindex)
{
	for (size_t i = 0; i < h->n_netdevs; i++)
		if (h->netdevs[i].nsid == NSID_HOST && h->netdevs[i].ifindex == ifindex)
			return &h->netdevs[i];
	return NULL;
}

/* With RoCE LAG, the bond's netdev is the one that the RDMA port refers to. */
static void search_ports(struct search *s, const struct host *h, const struct netdev *nd)
{
	for (size_t i = 0; i < h->n_rdma; i++)
		for (unsigned k = 0; k < h->rdma[i].n_ports; k++)
			if (h->rdma[i].ports[k].netdev_nsid == NSID_HOST &&
			    h->rdma[i].ports[k].netdev_ifindex == nd->ifindex)
				found(s, h->rdma[i].function);
}

static void search_members(struct search *s, const struct host *h, const struct netdev *nd)
{
	for (size_t i = 0; i < h->n_netdevs; i++)
		if (h->netdevs[i].nsid == NSID_HOST && h->netdevs[i].master == nd->ifindex)
			found(s, h->netdevs[i].function);
}

static void search_behind(struct search *s, const struct host *h, const struct netdev *nd)
{
	for (unsigned depth = 0; nd && !s->found && depth < DEPTH_MAX; depth++) {
		found(s, nd->function);
		if (!s->found)
			search_ports(s, h, nd);
		if (!s->found)
			search_members(s, h, nd);
		nd = nd->lower > 0 ? host_netdev_at(h, nd->lower) : NULL;
	}
}

const char *device_behind_name(const struct host *host, struct attach_list list, const char *name,
			       struct err *e)
{
	struct err none = {0};
	const char *own = device_by_name(host, list, name, &none);
	struct search s = {.name = name};

	if (!own && none.code == -ENODEV && name[0])
		search_behind(&s, host, host_netdev_named(host, name));
	if (s.found && !s.several)
		return s.found;
	if (s.several)
		err_set(e, -ENOTUNIQ, "%.64s is on several devices, use one of them: %s", name,
			s.all);
	else if (!own)
		err_set(e, none.code, "%s", none.msg);
	return own;
}
