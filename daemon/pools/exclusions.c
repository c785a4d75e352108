// SPDX-License-Identifier: Apache-2.0
/* exclusions.c - excludes functions with a default route, PFs with VFs, functions in other
 * namespaces, and devices that containers have from another plugin. */
#include "exclusions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_index.h"

/* --- allocations ------------------------------------------------------------------------------ */

/* True if the resource belongs to an exclusive pool. */
static bool exclusions_is_ours(const struct pool_config *config, const char *resource)
{
	char name[RESOURCE_NAME_SIZE];

	for (size_t i = 0; i < config->n_pools; i++) {
		pool_resource(&config->pools[i], name);
		if (config->pools[i].kind == POOL_EXCLUSIVE && strcmp(name, resource) == 0)
			return true;
	}
	return false;
}

static int cmp_foreign(const void *a, const void *b)
{
	const struct pod_device *x = *(const struct pod_device *const *)a;
	const struct pod_device *y = *(const struct pod_device *const *)b;
	int r = strcmp(x->id, y->id);

	return r ? r : strcmp(x->resource, y->resource);
}

/* Lists the allocations of other resources. The list is sorted by resource, so each resource is
 * looked up once. */
static void find_foreign(struct exclusions *b, const struct pool_config *config,
			 const struct pod_list *held)
{
	bool ours = false;

	for (size_t i = 0; i < held->n; i++) {
		const struct pod_device *d = &held->devices[i];

		if (i == 0 || strcmp(d->resource, d[-1].resource) != 0)
			ours = exclusions_is_ours(config, d->resource);
		if (!ours)
			b->foreign[b->n_foreign++] = d;
	}
	qsort(b->foreign, b->n_foreign, sizeof(struct pod_device *), cmp_foreign);
}

static int cmp_foreign_id(const void *id, const void *entry)
{
	return strcmp(id, (*(const struct pod_device *const *)entry)->id);
}

/* Returns the resource of another plugin, or of a previous configuration, under which this function
 * is allocated; NULL = none. */
static const char *foreign_resource(const struct exclusions *b, const char *function)
{
	const struct pod_device *const *found = bsearch(
		function, b->foreign, b->n_foreign, sizeof(struct pod_device *), cmp_foreign_id);

	return found ? (*found)->resource : NULL;
}

/* Returns the resource under which a container has a slot of this RDMA device ("mlx5_0-3"); NULL =
 * none. A slot with only a number does not show its device. */
static const char *slot_resource(const struct exclusions *b, const char *rdma)
{
	size_t len = strlen(rdma), low = 0, high = b->n_foreign;
	char prefix[RDMA_NAME_SIZE + 1];
	const char *id;

	if (b->n_foreign == 0)
		return NULL;
	snprintf(prefix, sizeof(prefix), "%s-", rdma);
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(b->foreign[mid]->id, prefix) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	id = low < b->n_foreign ? b->foreign[low]->id : "";
	return strncmp(id, prefix, len + 1) == 0 && id[len + 1] >= '0' && id[len + 1] <= '9'
		       ? b->foreign[low]->resource
		       : NULL;
}

/* --- exclusions ------------------------------------------------------------------------------ */

static bool is_at(const struct netdev *nd, const struct rdma_port *p)
{
	return nd->nsid == p->netdev_nsid && nd->ifindex == p->netdev_ifindex;
}

/* Returns the netdev of a port, or NULL if it is one of the function's own, which is the usual
 * case. */
static const struct netdev *other_netdev(const struct exclusions *b, const struct candidate *c,
					 const struct rdma_port *p)
{
	for (size_t i = 0; i < c->self.n_netdevs; i++)
		if (is_at(part_netdev(&c->self, i), p))
			return NULL;
	return host_index_netdev(b->index, p->netdev_nsid, p->netdev_ifindex);
}

/* Returns the netdev with a default route that uses one of the function's netdevs, or the netdev of
 * one of its RDMA devices' ports; NULL: none. */
static const struct netdev *default_route(const struct exclusions *b, const struct candidate *c)
{
	const struct netdev *all = b->index->host->netdevs;

	for (size_t i = 0; i < c->self.n_netdevs; i++)
		if (b->routes[part_netdev(&c->self, i) - all])
			return b->routes[part_netdev(&c->self, i) - all];
	for (size_t i = 0; i < c->self.n_rdma; i++) {
		const struct rdma_dev *rd = part_rdma(&c->self, i);

		for (unsigned j = 0; j < rd->n_ports; j++) {
			const struct netdev *nd = other_netdev(b, c, &rd->ports[j]);

			if (nd && b->routes[nd - all])
				return b->routes[nd - all];
		}
	}
	return NULL;
}

/* True if its netdev or RDMA device is in another namespace, *ret_nsid. A netdev with our mark is
 * returning, and will be cleaned before its next use: until then the function is unhealthy, but not
 * excluded. */
static bool is_elsewhere(const struct candidate *c, int *ret_nsid)
{
	for (size_t i = 0; i < c->self.n_netdevs; i++) {
		const struct netdev *nd = part_netdev(&c->self, i);

		*ret_nsid = nd->nsid;
		if (nd->nsid != NSID_HOST && netdev_is_own(nd))
			return !nd->origin[0];
	}
	for (size_t i = 0; i < c->self.n_rdma; i++) {
		*ret_nsid = part_rdma(&c->self, i)->nsid;
		if (*ret_nsid != NSID_HOST)
			return true;
	}
	return false;
}

static bool exclude(struct verdict *v, enum verdict_kind kind, const char *detail)
{
	v->kind = kind;
	snprintf(v->detail, sizeof(v->detail), "%.*s", (int)sizeof(v->detail) - 1, detail);
	return true;
}

static bool is_excluded_from_exclusive(const struct exclusions *b, const struct candidate *c,
				       struct verdict *ret)
{
	const struct netdev *route;
	const char *slots = NULL;

	if (c->self.fn->vfs > 0)
		return exclude(ret, VERDICT_HAS_VFS, "");
	for (size_t i = 0; i < c->self.n_rdma && !slots; i++)
		slots = slot_resource(b, part_rdma(&c->self, i)->name);
	if (slots)
		return exclude(ret, VERDICT_FOREIGN, slots);
	route = default_route(b, c);
	return route && exclude(ret, VERDICT_DEFAULT_ROUTE, route->name);
}

static bool exclusions_is_in_use(const struct exclusions *b, const struct candidate *c,
				 struct verdict *ret)
{
	const char *resource = foreign_resource(b, c->self.fn->id);
	int nsid;

	if (resource)
		return exclude(ret, VERDICT_FOREIGN, resource);
	return b->held_known && is_elsewhere(c, &nsid) &&
	       exclude(ret, VERDICT_ELSEWHERE, host_netns_name(b->index->host, nsid));
}

bool exclusions_find(const struct exclusions *b, const struct pool *p, const struct candidate *c,
		     bool allocated, struct verdict *ret)
{
	if (p->kind == POOL_EXCLUSIVE && is_excluded_from_exclusive(b, c, ret))
		return true;
	return !allocated && exclusions_is_in_use(b, c, ret);
}

int exclusions_init(struct exclusions *b, const struct host_index *ix,
		    const struct pool_config *config, const struct pod_list *held)
{
	*b = (struct exclusions){
		.index = ix,
		.routes = default_routes(ix),
		.foreign = calloc(held->n + 1, sizeof(struct pod_device *)),
		.held_known = held->source != POD_SOURCE_NONE,
	};
	if (!b->routes || !b->foreign) {
		exclusions_done(b);
		return -ENOMEM;
	}
	find_foreign(b, config, held);
	return 0;
}

void exclusions_done(struct exclusions *b)
{
	free(b->routes);
	free(b->foreign);
	*b = (struct exclusions){0};
}
