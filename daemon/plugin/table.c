// SPDX-License-Identifier: Apache-2.0
/* table.c - copies the last decision into the values that the metrics page and the API read. */
#include <stdlib.h>
#include <string.h>

#include "state.h"

static size_t n_offers(const struct resources *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->pools.n_views; i++)
		n += r->pools.views[i].n_offers;
	return n;
}

static size_t n_members(const struct resources *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->pools.n_views; i++)
		n += r->pools.views[i].n_members;
	return n;
}

static bool is_not_offered(const struct verdict *v)
{
	return v->kind != VERDICT_OFFERED && v->kind != VERDICT_KEPT;
}

static size_t n_not_offered(const struct resources *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->pools.n_verdicts; i++)
		n += is_not_offered(&r->pools.verdicts[i]);
	return n;
}

static int resources_make_room(const struct resources *r, struct resource_table *t)
{
	t->resources = calloc(r->pools.n_views + 1, sizeof(*t->resources));
	t->devices = calloc(n_offers(r) + 1, sizeof(*t->devices));
	t->members = calloc(n_members(r) + 1, sizeof(*t->members));
	t->not_offered = calloc(n_not_offered(r) + 1, sizeof(*t->not_offered));
	return t->resources && t->devices && t->members && t->not_offered ? 0 : -ENOMEM;
}

static void resources_add_devices(const struct resource *s, struct resource_table *t,
				  struct resource_info *info, const struct pool_view *v)
{
	size_t at = 0;

	info->first_device = t->n_devices;
	info->n_devices = v->n_offers;
	for (size_t i = 0; i < v->n_offers; i++) {
		struct resource_device *d = &t->devices[t->n_devices++];

		memcpy(d->id, v->offers[i].id, strlen(v->offers[i].id)); /* zeroed */
		/* Until the next decision, health may still be that of the previous
		 * configuration. */
		if (i < s->n_tracked && strcmp(s->tracked[i].id, d->id) == 0) {
			d->reasons = s->tracked[i].health.counted;
			d->unhealthy_unix_ms = s->tracked[i].unhealthy_unix_ms;
			d->or_earlier = s->tracked[i].health.or_earlier;
		}
		d->state = reservations_state_next(holders_reservations(s->owner->holders),
						   info->name, d->id, &at);
	}
	info->first_member = t->n_members;
	info->n_members = v->n_members;
	if (v->n_members)
		memcpy(&t->members[t->n_members], v->members, v->n_members * sizeof(*v->members));
	t->n_members += v->n_members;
}

static enum registration_state registration(enum plugin_state state)
{
	switch (state) {
	case PLUGIN_WAITING:
		break;
	case PLUGIN_REGISTERED:
		return REGISTRATION_DONE;
	case PLUGIN_REFUSED:
		return REGISTRATION_REFUSED;
	}
	return REGISTRATION_WAITING;
}

static void add_status(const struct resource *s, struct resource_info *info)
{
	struct plugin_status status = {0};

	info->allocations = s->allocations;
	info->refusals = s->refusals;
	memcpy(info->error, s->error, strlen(s->error)); /* zeroed */
	memcpy(info->files_error, s->files_error, strlen(s->files_error));
	if (!s->plugin)
		return;
	plugin_status(s->plugin, &status);
	info->registration = registration(status.state);
	snprintf(info->error, sizeof(info->error), "%.*s", (int)sizeof(info->error) - 1,
		 status.error);
	info->registrations = status.registrations;
	info->failures = status.failures;
	info->lists = status.lists;
	info->watchers = status.watchers;
	info->left_registry = status.left_registry;
}

static void resources_add_resource(const struct resource *s, struct resource_table *t,
				   const struct pool_view *v)
{
	struct resource_info *info = &t->resources[t->n_resources++];

	pool_resource(v->pool, info->name);
	info->shared = v->pool->kind != POOL_EXCLUSIVE;
	info->gid_capacity = v->gid_capacity;
	snprintf(info->hint, sizeof(info->hint), "%s", v->hint);
	resources_add_devices(s, t, info, v);
	add_status(s, info);
}

static int resources_by_function(const void *a, const void *b)
{
	return strcmp(((const struct not_offered *)a)->function,
		      ((const struct not_offered *)b)->function);
}

static void add_not_offered(const struct resources *r, struct resource_table *t)
{
	for (size_t i = 0; i < r->pools.n_verdicts; i++) {
		const struct verdict *v = &r->pools.verdicts[i];
		struct not_offered *n;

		if (!is_not_offered(v))
			continue;
		n = &t->not_offered[t->n_not_offered++];
		memcpy(n->function, v->function, strlen(v->function)); /* zeroed */
		verdict_text(v, n->why, sizeof(n->why));
	}
	qsort(t->not_offered, t->n_not_offered, sizeof(*t->not_offered), resources_by_function);
}

#define SAME(field, count)                                                                         \
	(a->count == b->count &&                                                                   \
	 (a->count == 0 || memcmp(a->field, b->field, a->count * sizeof(*a->field)) == 0))

/* True if the tables are equal. The arrays are zeroed before they are filled, so bytes can be
 * compared. */
static bool same(const struct resource_table *a, const struct resource_table *b)
{
	return SAME(resources, n_resources) && SAME(devices, n_devices) &&
	       SAME(members, n_members) && SAME(not_offered, n_not_offered) &&
	       pod_list_equal(&a->held, &b->held) && strcmp(a->held_error, b->held_error) == 0;
}

/* --- claims ----------------------------------------------------------------------------------- */

/* Finds the function by the name of its netdev, in any namespace, if only one netdev has this
 * name. */
static const char *function_of_netdev(const struct host *h, const char *name)
{
	const char *function = NULL;

	for (size_t i = 0; i < h->n_netdevs; i++) {
		const struct netdev *nd = &h->netdevs[i];

		if (nd->function[0] == '\0' || strcmp(nd->name, name) != 0)
			continue;
		if (function)
			return NULL;
		function = nd->function;
	}
	return function;
}

/* Replaces the names of claimed devices by their functions, if they are names of netdevs: a DRA
 * driver may name a device after its netdev. */
static int match_claims(struct pod_list *held, const struct host *h)
{
	for (size_t i = 0; i < held->n; i++) {
		struct pod_device *d = &held->devices[i];
		const char *function;

		if (strchr(d->resource, '/') || host_function(h, d->id))
			continue;
		function = function_of_netdev(h, d->id);
		if (!function)
			continue;
		d->id = pod_list_text(held, function);
		if (!d->id)
			return -ENOMEM;
	}
	pod_list_sort(held);
	return 0;
}

int resources_make_table(struct resources *r)
{
	struct resource_table t = {0};
	int error = resources_make_room(r, &t);

	if (error == 0)
		error = pod_list_copy(&t.held, holders_held(r->holders));
	if (error == 0)
		error = match_claims(&t.held, &r->inventory->host);
	if (error == 0) {
		for (size_t i = 0; i < r->pools.n_views; i++)
			resources_add_resource(r->items[i], &t, &r->pools.views[i]);
		add_not_offered(r, &t);
		snprintf(t.held_error, sizeof(t.held_error), "%s", holders_error(r->holders));
	}
	if (error < 0 || (r->table.generation > 0 && same(&t, &r->table))) {
		resource_table_done(&t);
		return error;
	}
	t.generation = r->table.generation + 1;
	resource_table_done(&r->table);
	r->table = t;
	return 1;
}
