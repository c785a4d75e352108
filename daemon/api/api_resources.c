// SPDX-License-Identifier: Apache-2.0
/* api_resources.c - resources and pods as JSON. Allocation failures need no checks here: a NULL
 * value makes the enclosing json_pack() fail. */
#include "api_resources.h"

#include <stdlib.h>
#include <string.h>

#include "api_attachments.h"
#include "host_index.h"
#include "json_text.h"
#include "network_answer.h"
#include "pool_config.h"
#include "search.h"
#include "utc_text.h"

/* --- one function ----------------------------------------------------------------------------- */

static json_t *reasons(unsigned bits)
{
	json_t *a = json_array();

	for (enum health_reason r = 0; a && r < N_HEALTH_REASONS; r++)
		if (bits & HEALTH_BIT(r))
			a = api_push(a, json_string(health_reason_name(r)));
	return a;
}

const char *reservation_name(enum reservation_state s)
{
	switch (s) {
	case RESERVATION_FREE:
		break;
	case RESERVATION_RESERVED:
		return "reserved";
	case RESERVATION_HELD:
		return "held";
	}
	return "free";
}

static json_t *resource_holder_json(const struct resource_table *t, const struct resource_entry *e)
{
	const struct pod_device *d = pod_list_find(&t->held, e->resource->name, e->device->id,
						   NULL);

	if (!d || (d->pod[0] == '\0' && d->uid[0] == '\0'))
		return json_null();
	return json_pack("{so so so so}", "namespace", json_text(d->namespace), "pod",
			 json_text(d->pod), "uid", json_text(d->uid), "container",
			 json_text(d->container));
}

static json_t *resource_entry_json(const struct resource_table *t, const struct resource_entry *e)
{
	const struct resource_device *d = e->device;

	char since[UTC_TEXT_SIZE];

	if (!d)
		return json_pack("{so sn sb sn sn sn sn sn sn}", "resource",
				 json_text(e->resource->name), "id", "shared", 1, "healthy",
				 "reasons", "unhealthySince", "orEarlier", "state", "holder");
	utc_text(d->unhealthy_unix_ms, since);
	return json_pack("{so so sb sb so so sb ss so}", "resource", json_text(e->resource->name),
			 "id", json_text(d->id), "shared", 0, "healthy", d->reasons == 0, "reasons",
			 reasons(d->reasons), "unhealthySince", json_text(since), "orEarlier",
			 (int)d->or_earlier, "state", reservation_name(d->state), "holder",
			 resource_holder_json(t, e));
}

json_t *api_resources_of(const struct resource_index *index, const char *function)
{
	size_t n;
	const struct resource_entry *e = resource_index_find(index, function, &n);
	json_t *a = json_array();

	for (size_t i = 0; a && i < n; i++)
		a = api_push(a, resource_entry_json(index->table, &e[i]));
	return a;
}

json_t *api_why_not(const struct resource_index *index, const char *function)
{
	const struct not_offered *why = resource_table_why(index->table, function);

	return json_text(why ? why->why : "");
}

/* --- all resources ---------------------------------------------------------------------------- */

const char *registration_name(enum registration_state s)
{
	switch (s) {
	case REGISTRATION_WAITING:
		break;
	case REGISTRATION_DONE:
		return "registered";
	case REGISTRATION_REFUSED:
		return "refused";
	}
	return "waiting";
}

static json_t *count_or_null(size_t n, bool known)
{
	return known ? json_integer((json_int_t)n) : json_null();
}

static json_t *resource(const struct resource_table *t, const struct resource_info *r)
{
	struct resource_counts n;

	resource_table_count(t, r, &n);
	return json_pack(
		"{so sb sI sI so so so ss so so sI sI sI}", "name", json_text(r->name), "shared",
		r->shared, "devices", (json_int_t)r->n_devices, "healthy", (json_int_t)n.healthy,
		"allocated", count_or_null(n.allocated, n.allocated_known), "free",
		count_or_null(n.free, n.free_known), "gidCapacity",
		r->gid_capacity ? json_integer(r->gid_capacity) : json_null(), "registration",
		registration_name(r->registration), "error", json_text(r->error), "hint",
		json_text(r->hint), "registrations", (json_int_t)r->registrations,
		"registrationFailures", (json_int_t)r->failures, "listsSent", (json_int_t)r->lists);
}

json_t *api_resources(const struct resource_table *t, const struct api_filter *filter)
{
	json_t *a = json_array();

	for (size_t i = 0; a && i < t->n_resources; i++)
		if (api_filter_name(filter, t->resources[i].name))
			a = api_push(a, resource(t, &t->resources[i]));
	return a;
}

char *api_resources_document(const struct resource_table *t, const struct api_filter *filter,
			     size_t *ret_len)
{
	static const struct resource_table none;

	t = t ? t : &none;
	return api_print(json_pack("{sI so}", "generation", (json_int_t)t->generation, "resources",
				   api_resources(t, filter)),
			 ret_len);
}

/* --- pods ------------------------------------------------------------------------------------- */

static int by_pod(const void *a, const void *b)
{
	const struct pod_device *x = *(const struct pod_device *const *)a;
	const struct pod_device *y = *(const struct pod_device *const *)b;
	int r = strcmp(x->namespace, y->namespace);

	if (r == 0)
		r = strcmp(x->pod, y->pod);
	if (r == 0)
		r = strcmp(x->uid, y->uid);
	if (r == 0)
		r = strcmp(x->container, y->container);
	return r ? r : (x > y) - (x < y);
}

static bool api_same_pod(const struct pod_device *a, const struct pod_device *b)
{
	return strcmp(a->namespace, b->namespace) == 0 && strcmp(a->pod, b->pod) == 0 &&
	       strcmp(a->uid, b->uid) == 0;
}

/* Allocations in the order of the document; `at` is the next one. */
struct pod_walk {
	const struct pod_device **list;
	size_t n, at;
	const struct condition_sources *sources;
	struct network_answer network; /* of the pod */
};

static json_t *pod_network(const struct network_answer *a)
{
	char why[NETWORK_ANSWER_SIZE];
	enum network_word answer = network_answer_text(a, why, sizeof(why));

	return json_pack("{ss so}", "answer", network_word_name(answer), "why", json_text(why));
}

/* The name of the function's RDMA device, in whatever namespace it is; NULL: unknown. */
static const char *pod_device_rdma(const struct condition_sources *s, const struct pod_device *d)
{
	const char *function = condition_function(s, d);
	const struct rdma_dev *rdma = find_first(
		s->host->rdma, function ? s->host->n_rdma : 0, i,
		strcmp(rdma_function_id(&s->host->rdma[i]), function) == 0);

	return rdma ? rdma->name : NULL;
}

static json_t *pod_device(struct pod_walk *w, const struct pod_device *d)
{
	const struct condition_sources *s = w->sources;
	const struct attach_status *a = attach_list_id(s->attachments, d->resource, d->id);
	const char *rdma = pod_device_rdma(s, d);
	struct condition c;

	condition_of_pod_device(&c, s, d);
	network_answer_add(&w->network, rdma ? rdma : d->id, &c);
	return json_pack("{so so so so so so so}", "resource", json_text(d->resource), "id",
			 json_text(d->id), "rdma", json_text(rdma), "watch", json_text(c.watch),
			 "health", json_text(condition_health(&c)), "troubles",
			 condition_troubles(&c), "attachment", api_attachment(a, s->epoch_ms));
}

static json_t *container(struct pod_walk *w)
{
	const struct pod_device *first = w->list[w->at];
	json_t *devices = json_array();

	for (; devices && w->at < w->n && api_same_pod(w->list[w->at], first) &&
	       strcmp(w->list[w->at]->container, first->container) == 0;
	     w->at++)
		devices = api_push(devices, pod_device(w, w->list[w->at]));
	return json_pack("{so so}", "name", json_text(first->container), "devices", devices);
}

static json_t *pod(struct pod_walk *w)
{
	const struct pod_device *first = w->list[w->at];
	json_t *containers = json_array();

	w->network = (struct network_answer){0};
	while (containers && w->at < w->n && api_same_pod(w->list[w->at], first))
		containers = api_push(containers, container(w));
	return json_pack("{so so so so so}", "namespace", json_text(first->namespace), "name",
			 json_text(first->pod), "uid", json_text(first->uid), "network",
			 pod_network(&w->network), "containers", containers);
}

static const char *api_source_name(enum pod_source s)
{
	switch (s) {
	case POD_SOURCE_NONE:
		break;
	case POD_SOURCE_API:
		return "api";
	case POD_SOURCE_CHECKPOINT:
		return "checkpoint";
	}
	return "";
}

/* Lists the allocations that have a pod; a reserved device has none yet. */
static size_t list_pods(const struct pod_list *held, const struct pod_device **list)
{
	size_t n = 0;

	for (size_t i = 0; i < held->n; i++)
		if (held->devices[i].pod[0] || held->devices[i].uid[0])
			list[n++] = &held->devices[i];
	qsort(list, n, sizeof(struct pod_device *), by_pod);
	return n;
}

/* Adds the next pod, or skips one that is not selected. */
static void add_pod(json_t **pods, struct pod_walk *w, const struct api_filter *filter)
{
	const struct pod_device *first = w->list[w->at];

	if (api_filter_pod(filter, first->namespace, first->pod)) {
		*pods = api_push(*pods, pod(w));
		return;
	}
	while (w->at < w->n && api_same_pod(w->list[w->at], first))
		w->at++;
}

char *api_pods(const struct condition_sources *sources, const struct api_filter *filter,
	       size_t *ret_len)
{
	const struct resource_table *t = sources->resources->table;
	struct pod_walk w = {.list = calloc(t->held.n + 1, sizeof(struct pod_device *)),
			     .sources = sources};
	json_t *pods = w.list ? json_array() : NULL, *document;

	w.n = w.list ? list_pods(&t->held, w.list) : 0;
	while (pods && w.at < w.n)
		add_pod(&pods, &w, filter);
	document = json_pack("{sI so so so}", "generation", (json_int_t)t->generation, "source",
			     json_text(api_source_name(t->held.source)), "error",
			     json_text(t->held_error), "pods", pods);
	free(w.list);
	return api_print(document, ret_len);
}
