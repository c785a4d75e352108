// SPDX-License-Identifier: Apache-2.0
/* resource.c - the served resources: one per pool of the configuration, the state of each of its
 * IDs, and the lists sent to the kubelet. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "log.h"
#include "search.h"
#include "state.h"
#include "unix_time.h"

/* --- served resources ------------------------------------------------------------------------- */

static struct resource *resource_new(struct resources *r, const struct pool *pool)
{
	struct resource *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->owner = r;
	pool_resource(pool, s->name);
	return s;
}

void resource_free(struct resource *s)
{
	if (!s)
		return;
	free(s->tracked);
	free(s);
}

static struct resource *take_resource(struct resources *r, const char *name)
{
	for (size_t i = 0; i < r->n_items; i++)
		if (r->items[i] && strcmp(r->items[i]->name, name) == 0)
			return take_ptr(r->items[i]);
	return NULL;
}

static void withdraw(struct resources *r, struct resource *s)
{
	log_info("resources", 0, "%s is not configured any more, withdrawing it", s->name);
	allocate_drop(r, s);
	plugin_withdraw(s->plugin);
	resource_free(s);
}

int resource_follow_config(struct resources *r, const struct pool_config *config)
{
	struct resource **all = calloc(config->n_pools + 1, sizeof(struct resource *));
	char name[RESOURCE_NAME_SIZE];
	size_t n_new = 0;

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < config->n_pools; i++) {
		all[i] = resource_new(r, &config->pools[i]);
		n_new += all[i] != NULL;
	}
	for (size_t i = 0; i < config->n_pools && n_new == config->n_pools; i++) {
		struct resource *known;

		pool_resource(&config->pools[i], name);
		known = take_resource(r, name);
		if (known) {
			resource_free(all[i]);
			all[i] = known;
		}
	}
	if (n_new < config->n_pools) {
		for (size_t i = 0; i < config->n_pools; i++)
			resource_free(all[i]);
		free(all);
		return -ENOMEM;
	}
	for (size_t i = 0; i < r->n_items; i++)
		if (r->items[i])
			withdraw(r, r->items[i]);
	free(r->items);
	r->items = all;
	r->n_items = config->n_pools;
	return 0;
}

/* --- health ----------------------------------------------------------------------------------- */

/* Offers keep their order, so the search starts behind the previous match; *at is updated. */
static const struct tracked *find_known(const struct resource *s, const char *id, size_t *at)
{
	for (size_t i = 0; i < s->n_tracked; i++) {
		size_t k = (*at + i) % s->n_tracked;

		if (strcmp(s->tracked[k].id, id) == 0) {
			*at = k + 1;
			return &s->tracked[k];
		}
	}
	return NULL;
}

/* Reasons that have events of their own, or come and go with every pod. */
#define REPORTED_ELSEWHERE                                                                         \
	(HEALTH_BIT(HEALTH_LEAVING) | HEALTH_BIT(HEALTH_NOT_CLEAN) |                               \
	 HEALTH_BIT(HEALTH_NODE_CHANGED) | HEALTH_BIT(HEALTH_NODE_HELD))

/* Emits an event: a pod's device became unhealthy, or healthy again. Free devices and slots give
 * none: one cable may have hundreds. */
static void report_health(const struct resource *s, const char *id, unsigned before, unsigned now)
{
	const struct resources *r = s->owner;
	const struct pod_device *d = pod_list_find(holders_held(r->holders), s->name, id, NULL);
	struct event event = {.count = 1, .type = now ? EVENT_WARNING : EVENT_NORMAL};
	char text[128];

	if (!d || !d->pod[0] || !before == !now)
		return;
	health_text(now, text, sizeof(text));
	event.first_ms = event.last_ms = unix_ms();
	snprintf(event.reason, sizeof(event.reason), "%s", now ? "Unhealthy" : "Healthy");
	snprintf(event.namespace, sizeof(event.namespace), "%s", d->namespace);
	snprintf(event.pod, sizeof(event.pod), "%s", d->pod);
	snprintf(event.device, sizeof(event.device), "%s", id);
	snprintf(event.message, sizeof(event.message), "the device of %s is %s%s", s->name,
		 now ? "unhealthy: " : "healthy again", text);
	r->hooks.event(&event, r->hooks.arg);
}

static void track(const struct resource *s, const struct pool *pool, unsigned reasons, uint64_t now,
		  const struct tracked *known, struct tracked *t)
{
	unsigned before = known ? known->health.counted : 0;
	char text[128];
	bool has_changed;

	if (known) {
		t->health = known->health;
		t->unhealthy_unix_ms = known->unhealthy_unix_ms;
	} else {
		health_start(&t->health, reasons & ~HEALTH_BIT(HEALTH_LEAVING), now);
	}
	has_changed = health_update(&t->health, reasons, pool, now);
	if (t->health.counted == 0)
		t->unhealthy_unix_ms = 0;
	else if (t->unhealthy_unix_ms == 0)
		t->unhealthy_unix_ms = unix_ms() - (now - t->health.unhealthy_ms);
	if (!has_changed)
		return;
	health_text(t->health.counted, text, sizeof(text));
	log_info("resources", 0, "%s of %s is %s%s", t->id, s->name,
		 t->health.counted ? "unhealthy: " : "healthy again", text);
	if (pool->kind == POOL_EXCLUSIVE)
		report_health(s, t->id, before & ~REPORTED_ELSEWHERE,
			      t->health.counted & ~REPORTED_ELSEWHERE);
}

static bool has_mark(const struct host_index *index, const char *function)
{
	const struct fn_parts parts = host_index_parts(index, function);

	return any_of(parts.n_netdevs, i, part_netdev(&parts, i)->origin[0]);
}

/* Returns the reasons against a function from its attachment's state, which is better evidence than
 * the host's inventory. A device that is leaving a pod is acceptable only if we attach it, because
 * only then does the gate wait for it. */
static unsigned judge_attachment(const struct pool_view *v, const char *function,
				 const struct host_index *index, const struct attach_engine *e)
{
	if (has_mark(index, function) && !attach_engine_find(e, function))
		return HEALTH_BIT(HEALTH_NOT_CLEAN);
	switch (attach_engine_fitness(e, function)) {
	case ATTACH_FIT:
		break;
	case ATTACH_LEAVING:
		return HEALTH_BIT(v->pool->network ? HEALTH_LEAVING : HEALTH_NOT_CLEAN);
	case ATTACH_UNFIT:
		return HEALTH_BIT(HEALTH_NOT_CLEAN);
	}
	return 0;
}

/* Returns all reasons against an offer. A device that is leaving is judged as if a container had
 * it, because the host cannot see the namespace of its previous pod. */
static unsigned offer_reasons(const struct resources *r, const struct pool_view *v,
			      const struct offer *o, const struct host_index *index, bool held)
{
	unsigned reasons = 0;

	for (size_t i = 0; r->opts.engine && v->pool->kind == POOL_EXCLUSIVE && i < o->n_members;
	     i++)
		reasons |= judge_attachment(v, v->members[o->first_member + i], index,
					    r->opts.engine);
	held = held || reasons & HEALTH_BIT(HEALTH_LEAVING);
	return reasons | health_judge(v, o, index, held);
}

/* Emits an event: the device nodes of a container belong to another device now. */
static void report_changed(const struct resource *s, const struct pool_view *v, const char *id,
			   const struct node_conflicts *conflicts)
{
	const struct resources *r = s->owner;
	const struct pod_device *d = pod_list_find(holders_held(r->holders), s->name, id, NULL);
	struct event event = {.count = 1, .type = EVENT_WARNING, .reason = "Drift"};
	struct err e = {0};

	if (node_conflicts_check(conflicts, v, (struct id_list){&id, 1}, &e) == 0)
		return;
	event.first_ms = event.last_ms = unix_ms();
	snprintf(event.namespace, sizeof(event.namespace), "%s", d ? d->namespace : "");
	snprintf(event.pod, sizeof(event.pod), "%s", d ? d->pod : "");
	snprintf(event.device, sizeof(event.device), "%s", id);
	snprintf(event.message, sizeof(event.message), "%s", e.msg);
	r->hooks.event(&event, r->hooks.arg);
}

static bool has_changed(const struct tracked *t)
{
	return t && t->health.counted & HEALTH_BIT(HEALTH_NODE_CHANGED);
}

/* Judges every offer of a view, and drops the state of IDs that are no longer offered. */
static int track_view(struct resource *s, const struct pool_view *v, const struct host_index *index,
		      const struct node_conflicts *conflicts)
{
	struct tracked *all = calloc(v->n_offers + 1, sizeof(*all));
	struct resources *r = s->owner;
	size_t at = 0, reservations_at = 0, n_known = 0;

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < v->n_offers; i++) {
		const struct offer *o = &v->offers[i];
		bool held = reservations_state_next(holders_reservations(r->holders), s->name,
						    o->id, &reservations_at) != RESERVATION_FREE;
		const struct tracked *known = find_known(s, o->id, &at);

		n_known += known != NULL;
		memcpy(all[i].id, o->id, sizeof(all[i].id));
		track(s, v->pool,
		      offer_reasons(r, v, o, index, held) | node_conflicts_judge(conflicts, v, o),
		      uv_now(r->loop), known, &all[i]);
		if (has_changed(&all[i]) && !has_changed(known))
			report_changed(s, v, o->id, conflicts);
	}
	r->to_sweep = r->to_sweep || n_known != s->n_tracked;
	free(s->tracked);
	s->tracked = all;
	s->n_tracked = v->n_offers;
	return 0;
}

int resource_judge(struct resources *r)
{
	struct node_conflicts conflicts;
	struct host_index index;
	int error = host_index_init(&index, &r->inventory->host);

	if (error < 0)
		return error;
	error = resources_conflicts(r, &conflicts);
	for (size_t i = 0; i < r->n_items && error == 0; i++)
		error = track_view(r->items[i], &r->pools.views[i], &index, &conflicts);
	node_conflicts_done(&conflicts);
	host_index_done(&index);
	return error;
}

/* --- lists to the kubelet --------------------------------------------------------------------- */

static void serve(struct resources *r, struct resource *s)
{
	struct plugin_hooks hooks = plugin_calls;
	struct err e = {0};

	if (s->plugin || !r->kubelet)
		return;
	hooks.arg = s;
	if (kubelet_serve(&s->plugin, r->kubelet, s->name, &hooks, &e) < 0 && !s->error[0])
		log_warn("resources", 0, "%s: %s, trying again with the next change", s->name,
			 e.msg);
	snprintf(s->error, sizeof(s->error), "%.*s", (int)sizeof(s->error) - 1, e.msg);
}

static int advertise_list(const struct resource *s, const struct pool_view *v)
{
	struct plugin_device *list = calloc(v->n_offers + 1, sizeof(*list));
	int error;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < v->n_offers; i++) {
		memcpy(list[i].id, v->offers[i].id, sizeof(list[i].id));
		list[i].numa = v->offers[i].numa;
		list[i].healthy = s->tracked[i].health.counted == 0;
	}
	error = s->plugin ? plugin_set_devices(s->plugin, list, v->n_offers) : 0;
	free(list);
	return error;
}

int resource_advertise(struct resources *r)
{
	int error = 0;

	for (size_t i = 0; i < r->n_items && error == 0; i++) {
		serve(r, r->items[i]);
		error = advertise_list(r->items[i], &r->pools.views[i]);
	}
	return error;
}
