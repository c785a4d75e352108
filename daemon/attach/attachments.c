/* attachments.c - the set of attachments, their moves from state to state, and what others see. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "engine_state.h"
#include "log.h"

/* --- finding ---------------------------------------------------------------------------------- */

bool record_is_stacked(const struct attach_record *r)
{
	return r->plan.kind != PLAN_VF;
}

static bool is_id(const struct attach_record *r, const char *resource, const char *id)
{
	return strcmp(r->id, id) == 0 && strcmp(r->resource, resource) == 0;
}

struct attachment *attachment_of_function(const struct attach_engine *e, const char *function)
{
	for (size_t i = 0; i < e->n; i++)
		if (!record_is_stacked(&e->items[i]->record) &&
		    strcmp(e->items[i]->record.function, function) == 0)
			return e->items[i];
	return NULL;
}

struct attachment *attachment_of_id(const struct attach_engine *e, const char *resource,
				    const char *id)
{
	for (size_t i = 0; i < e->n; i++)
		if (is_id(&e->items[i]->record, resource, id))
			return e->items[i];
	return NULL;
}

static struct attachment *find_slot(const struct attach_engine *e, const struct attach_record *r)
{
	for (size_t i = 0; i < e->n; i++)
		if (record_is_stacked(&e->items[i]->record) &&
		    is_id(&e->items[i]->record, r->resource, r->id))
			return e->items[i];
	return NULL;
}

struct attachment *attachment_find(const struct attach_engine *e, const struct attach_record *r)
{
	return record_is_stacked(r) ? find_slot(e, r) : attachment_of_function(e, r->function);
}

/* --- life ------------------------------------------------------------------------------------- */

struct attachment *attachment_new(struct attach_engine *e, const struct attach_record *record)
{
	struct attachment *a = calloc(1, sizeof(*a));
	struct attachment **items = a ? array_room(e->items, e->n, sizeof(void *)) : NULL;

	if (!items) {
		free(a);
		return NULL;
	}
	e->items = items;
	e->items[e->n++] = a;
	a->engine = e;
	a->record = *record;
	a->retry_ms = NEVER;
	a->since_ms = uv_now(e->loop);
	e->list_changed = true;
	return a;
}

bool attachment_is_idle(const struct attachment *a)
{
	return a->record.state == ATTACH_FREE && !a->op && !a->orders;
}

void attachment_drop(struct attachment *a)
{
	struct attach_engine *e = a->engine;
	size_t i = 0;

	while (e->items[i] != a)
		i++;
	e->items[i] = e->items[--e->n];
	e->list_changed = true;
	a->next = e->dropped;
	e->dropped = a;
}

void attachment_become(struct attachment *a, enum attach_state to)
{
	enum attach_state from = a->record.state;

	if (!attach_state_may_become(from, to)) {
		log_error("attach", 0, "bug: %s goes from %s to %s", a->record.function,
			  attach_state_name(from), attach_state_name(to));
		abort();
	}
	a->record.state = to;
	if (to == ATTACH_ATTACHING)
		a->life = NETNS_UNKNOWN;
	a->since_ms = uv_now(a->engine->loop);
	a->engine->list_changed = true;
}

/* --- what is known of it ---------------------------------------------------------------------- */

const struct netdev *attachment_netdev(const struct attachment *a)
{
	const struct host *h = &a->engine->inventory->host;

	for (size_t i = 0; i < h->n_netdevs && !record_is_stacked(&a->record); i++)
		if (strcmp(h->netdevs[i].function, a->record.function) == 0)
			return &h->netdevs[i];
	return NULL;
}

bool attachment_is_off_the_bus(const struct attachment *a)
{
	const struct inventory *inv = a->engine->inventory;

	return inv->generation > 0 && !host_function(&inv->host, a->record.function);
}

static bool prefix_equal(const struct ip_prefix *a, const struct ip_prefix *b)
{
	return a->family == b->family && a->len == b->len && memcmp(a->addr, b->addr, 16) == 0;
}

static bool routes_equal(const struct net_plan *a, const struct net_plan *b)
{
	for (size_t i = 0; i < a->n_routes; i++)
		if (!prefix_equal(&a->routes[i].dst, &b->routes[i].dst) ||
		    !prefix_equal(&a->routes[i].gateway, &b->routes[i].gateway) ||
		    a->routes[i].priority != b->routes[i].priority)
			return false;
	return true;
}

static bool ips_equal(const struct net_plan *a, const struct net_plan *b)
{
	for (size_t i = 0; i < a->n_ips; i++)
		if (!prefix_equal(&a->ips[i], &b->ips[i]))
			return false;
	return true;
}

static bool vf_equal(const struct vf_settings *a, const struct vf_settings *b)
{
	return a->fields == b->fields && memcmp(a->mac, b->mac, sizeof(a->mac)) == 0 &&
	       a->vlan == b->vlan && a->vlan_qos == b->vlan_qos && a->vlan_proto == b->vlan_proto &&
	       a->spoofchk == b->spoofchk && a->trust == b->trust &&
	       a->link_state == b->link_state && a->min_rate == b->min_rate &&
	       a->max_rate == b->max_rate && a->node_guid == b->node_guid &&
	       a->port_guid == b->port_guid;
}

bool plan_equal(const struct net_plan *a, const struct net_plan *b)
{
	return a->kind == b->kind && strcmp(a->ifname, b->ifname) == 0 && a->mtu == b->mtu &&
	       a->has_mac == b->has_mac && memcmp(a->mac, b->mac, sizeof(a->mac)) == 0 &&
	       vf_equal(&a->vf, &b->vf) && a->n_ips == b->n_ips && ips_equal(a, b) &&
	       a->n_routes == b->n_routes && routes_equal(a, b) && strcmp(a->ipam, b->ipam) == 0 &&
	       a->soft_roce == b->soft_roce;
}

/* --- what others see -------------------------------------------------------------------------- */

/* What keeps it from coming back counts more than why it went. */
static const struct err *current_error(const struct attachment *a)
{
	bool comes_back = a->record.state == ATTACH_RETURNING || a->record.state == ATTACH_BAD;

	return a->failure.code && !(comes_back && a->trouble.code) ? &a->failure : &a->trouble;
}

static const struct attach_status *status_of(const struct attachment *a,
					     struct attach_status *status)
{
	const struct err *e = current_error(a);

	status->record = &a->record;
	status->step = a->op ? operation_step(a->op) : NULL;
	status->drift = a->drift;
	status->tries = a->tries;
	status->since_ms = a->since_ms;
	snprintf(status->error, sizeof(status->error), "%s", e->code ? e->msg : "");
	return status;
}

static int by_function(const void *a, const void *b)
{
	const struct attach_record *x = ((const struct attach_status *)a)->record;
	const struct attach_record *y = ((const struct attach_status *)b)->record;
	int order = natural_cmp(x->function, y->function);

	if (order == 0)
		order = strcmp(x->resource, y->resource);
	return order ? order : natural_cmp(x->id, y->id);
}

static void free_dropped(struct attach_engine *e)
{
	while (e->dropped) {
		struct attachment *a = e->dropped;

		e->dropped = a->next;
		free(a);
	}
}

int attachments_publish(struct attach_engine *e)
{
	struct attach_status *items = calloc(e->n + 1, sizeof(*items));

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < e->n; i++)
		status_of(e->items[i], &items[i]);
	qsort(items, e->n, sizeof(*items), by_function);
	free((void *)e->list.items);
	e->list = (struct attach_list){items, e->n};
	free_dropped(e);
	return 0;
}

void attachments_free(struct attach_engine *e)
{
	while (e->n > 0)
		free(e->items[--e->n]);
	free(e->items);
	free_dropped(e);
	free((void *)e->list.items);
}

size_t attach_engine_list(const struct attach_engine *e, const struct attach_status **ret)
{
	*ret = e->list.items;
	return e->list.n;
}

const struct attach_status *attach_engine_find(const struct attach_engine *e, const char *function)
{
	struct attachment *a = attachment_of_function(e, function);

	return a && a->record.state != ATTACH_FREE ? status_of(a, &a->status) : NULL;
}

/* Only reserved, it may be for a container of the same pod; the gate finds out. */
static bool is_holders(const struct attachment *a)
{
	struct attach_view view;
	const struct pod_device *d;

	if (!a->engine->hooks.view(&view, a->engine->hooks.arg) ||
	    view.held->source == POD_SOURCE_NONE)
		return true;
	d = pod_list_find(view.held, a->record.resource, a->record.id, NULL);
	return d && (d->pod[0] == '\0' || (strcmp(d->pod, a->record.owner.pod) == 0 &&
					   strcmp(d->namespace, a->record.owner.namespace) == 0));
}

enum attach_fitness attach_engine_fitness(const struct attach_engine *e, const char *function)
{
	const struct attachment *a = attachment_of_function(e, function);

	switch (a ? a->record.state : ATTACH_FREE) {
	case ATTACH_FREE:
		break;
	case ATTACH_ATTACHING:
	case ATTACH_IN_POD:
		if (a->record.owner.door != DOOR_NATIVE)
			return ATTACH_UNFIT;
		return is_holders(a) ? ATTACH_FIT : ATTACH_LEAVING;
	case ATTACH_RETURNING:
	case ATTACH_BAD:
		return outcome_is_trouble(a) ? ATTACH_UNFIT : ATTACH_LEAVING;
	}
	return ATTACH_FIT;
}

void attach_engine_counters(const struct attach_engine *e, struct attach_counters *ret)
{
	unsigned *const of_state[] = {
		[ATTACH_FREE] = &ret->free,	[ATTACH_ATTACHING] = &ret->attaching,
		[ATTACH_IN_POD] = &ret->in_pod, [ATTACH_RETURNING] = &ret->returning,
		[ATTACH_BAD] = &ret->bad,
	};

	*ret = e->counters;
	for (size_t i = 0; i < e->n; i++)
		++*of_state[e->items[i]->record.state];
	ret->cri_open = e->cri != NULL;
	if (e->cri)
		e->ops->cri_status(e->cri, &ret->cri);
}
