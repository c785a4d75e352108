// SPDX-License-Identifier: Apache-2.0
/* pools_lost.c - builds both configurations' pools for the current host, and compares them. */
#include "pools_lost.h"

#include <string.h>

#include "pools.h"
#include "resource_table.h"

size_t pools_lost_held(const struct resource_table *t, const char *resource)
{
	size_t n = 0;

	for (size_t i = 0; i < t->held.n; i++)
		n += strcmp(t->held.devices[i].resource, resource) == 0;
	return n;
}

/* Returns the view of the resource; NULL: the configuration has no such resource. */
static const struct pool_view *pools_lost_view(const struct pools *p, const char *resource)
{
	char name[RESOURCE_NAME_SIZE];

	for (size_t i = 0; i < p->n_views; i++) {
		pool_resource(p->views[i].pool, name);
		if (strcmp(name, resource) == 0)
			return &p->views[i];
	}
	return NULL;
}

static bool is_lost_pool(const char *resource, const struct pools *used, const struct pools *next)
{
	const struct pool_view *before = pools_lost_view(used, resource);
	const struct pool_view *after = pools_lost_view(next, resource);

	if (!before || (after && after->n_members > 0))
		return false;
	return !after || before->n_members > 0;
}

static int pools_lost_find(struct pool_loss *ret, const struct resource_table *now,
			   const struct pools *used, const struct pools *next, bool only_held)
{
	for (size_t i = 0; i < now->n_resources; i++) {
		const struct resource_info *r = &now->resources[i];
		size_t n_held = pools_lost_held(now, r->name);

		if (r->n_devices == 0 || (only_held && n_held == 0) ||
		    !is_lost_pool(r->name, used, next))
			continue;
		memcpy(ret->resource, r->name, sizeof(ret->resource));
		ret->n_devices = r->n_devices;
		ret->n_held = n_held;
		return 1;
	}
	return 0;
}

int pools_lost(struct pool_loss *ret, const struct resource_table *now,
	       const struct pool_config *used, const struct pool_config *next,
	       const struct host *host, bool only_held)
{
	struct pools before = {0}, after = {0};
	int r = pools_build(&before, used, host, NULL);

	if (r == 0)
		r = pools_build(&after, next, host, NULL);
	if (r == 0)
		r = pools_lost_find(ret, now, &before, &after, only_held);
	pools_done(&before);
	pools_done(&after);
	return r;
}
