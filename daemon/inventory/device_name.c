// SPDX-License-Identifier: Apache-2.0
#include "device_name.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "name_list.h"
#include "search.h"

/* Maximum depth of stacked netdevs that is followed. */
#define DEPTH_MAX 8

struct search {
	const char *name, *found;
	bool several;
	char text[160];
	struct name_list all;
};

static void found(struct search *s, const char *function)
{
	if (function[0] == '\0' || (s->found && strcmp(s->found, function) == 0))
		return;
	s->several |= s->found != NULL;
	s->found = function;
	name_list_add(&s->all, function);
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

/* Parses the 16 hexadecimal digits of a GUID, with or without colons; 0: it is no GUID. */
static uint64_t guid_of(const char *name)
{
	uint64_t guid = 0;
	unsigned digits = 0;

	for (; *name; name++) {
		if (*name == ':')
			continue;
		if (!isxdigit((unsigned char)*name) || ++digits > 16)
			return 0;
		guid = guid << 4 | (unsigned)(isdigit((unsigned char)*name)
						      ? *name - '0'
						      : tolower((unsigned char)*name) - 'a' + 10);
	}
	return digits == 16 ? guid : 0;
}

static void search_guids(struct search *s, const struct host *host)
{
	uint64_t guid = guid_of(s->name);

	for (size_t i = 0; guid && i < host->n_rdma; i++)
		if (host->rdma[i].nsid == NSID_HOST && host->rdma[i].node_guid == guid)
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

bool device_name_of_numbered(const char *name, char mark, char ret[DEVICE_NAME_SIZE])
{
	const char *at = strrchr(name, mark);
	size_t len = at ? (size_t)(at - name) : 0;

	if (len == 0 || len >= DEVICE_NAME_SIZE || !at[1] ||
	    at[1 + strspn(at + 1, "0123456789")] != '\0')
		return false;
	memcpy(ret, name, len);
	ret[len] = '\0';
	return true;
}

static const char *device_named(const struct host *host, struct attach_list list, const char *name,
				struct err *e)
{
	const struct function *fn = host_function(host, name);
	struct search s = {.name = name};

	s.all = name_list_in(s.text, sizeof(s.text));
	if (fn)
		return fn->id;
	if (name[0] != '\0') {
		search_host(&s, host);
		if (!s.found)
			search_pods(&s, list);
		if (!s.found)
			search_guids(&s, host);
	}
	if (s.found && !s.several)
		return s.found;
	if (s.several)
		err_set(e, -ENOTUNIQ, "several devices are named %.64s: use the bus name", name);
	else
		err_set(e, -ENODEV, "this node has no device %.64s", name);
	return NULL;
}

/* Finds a device by its name, or by the name of its port, such as "mlx5_0/1". */
const char *device_by_name(const struct host *host, struct attach_list list, const char *name,
			   struct err *e)
{
	char base[DEVICE_NAME_SIZE];
	struct err none = {0};
	const char *device = device_named(host, list, name, &none);

	if (!device && none.code == -ENODEV && device_name_of_numbered(name, '/', base))
		device = device_named(host, list, base, &(struct err){0});
	if (!device)
		err_set(e, none.code, "%s", none.msg);
	return device;
}

/* --- behind a netdev -------------------------------------------------------------------------- */

static const struct netdev *host_netdev_named(const struct host *h, const char *name)
{
	return find_first(h->netdevs, h->n_netdevs, i,
			  h->netdevs[i].nsid == NSID_HOST && device_has_name(&h->netdevs[i], name));
}

static const struct netdev *host_netdev_at(const struct host *h, int ifindex)
{
	return find_first(h->netdevs, h->n_netdevs, i,
			  h->netdevs[i].nsid == NSID_HOST && h->netdevs[i].ifindex == ifindex);
}

/* Adds the functions whose RDMA ports refer to the netdev. With RoCE LAG, that is the bond's. */
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

static const char *device_behind(const struct host *host, struct attach_list list, const char *name,
				 struct err *e)
{
	struct err none = {0};
	const char *own = device_by_name(host, list, name, &none);
	struct search s = {.name = name};

	s.all = name_list_in(s.text, sizeof(s.text));
	if (!own && none.code == -ENODEV && name[0])
		search_behind(&s, host, host_netdev_named(host, name));
	if (s.found && !s.several)
		return s.found;
	if (s.several)
		err_set(e, -ENOTUNIQ, "several devices belong to %.64s, use one of them: %s", name,
			s.text);
	else if (!own)
		err_set(e, none.code, "%s", none.msg);
	return own;
}

const char *device_behind_name(const struct host *host, struct attach_list list, const char *name,
			       struct err *e)
{
	const char *device = device_behind(host, list, name, e);
	char base[DEVICE_NAME_SIZE];
	struct err other = {0};

	if (!device &&
	    (device_name_of_numbered(name, '/', base) || device_name_of_numbered(name, '-', base)))
		device = device_behind(host, list, base, &other);
	if (device)
		*e = (struct err){0};
	return device;
}
