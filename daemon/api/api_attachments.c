// SPDX-License-Identifier: Apache-2.0
/* api_attachments.c - attachments, events and doctor findings as JSON. Allocation failures need no
 * checks here: a NULL value makes the enclosing json_pack() fail. */
#include "api_attachments.h"

#include <stdio.h>
#include <string.h>

#include "doctor.h"
#include "json_text.h"
#include "network_text.h"
#include "utc_text.h"

char *api_print(json_t *document, size_t *ret_len)
{
	char *text = document ? json_dumps(document, JSON_COMPACT) : NULL;

	json_decref(document);
	if (text)
		*ret_len = strlen(text);
	return text;
}

json_t *api_push(json_t *array, json_t *item)
{
	if (json_array_append_new(array, item) == 0)
		return array;
	json_decref(array);
	return NULL;
}

static json_t *time_text(uint64_t unix_ms)
{
	char text[UTC_TEXT_SIZE];

	utc_text(unix_ms, text);
	return json_text(text);
}

/* --- attachments ------------------------------------------------------------------------------ */

const char *api_door_name(enum attach_door door)
{
	switch (door) {
	case DOOR_NATIVE:
		break;
	case DOOR_CNI:
		return "cni";
	case DOOR_ADMIN:
		return "admin";
	}
	return "native";
}

static json_t *push_ips(json_t *array, const struct ip_prefix *ips, size_t n)
{
	for (size_t i = 0; array && i < n; i++) {
		char text[IP_TEXT_SIZE];

		ip_prefix_text(&ips[i], text);
		array = api_push(array, json_text(text));
	}
	return array;
}

/* Addresses of the plan, and those from IPAM. */
static json_t *ips(const struct attach_record *r)
{
	json_t *array = push_ips(json_array(), r->plan.ips, r->plan.n_ips);

	return push_ips(array, r->ips, r->n_ips);
}

static json_t *attach_mac_json(const struct attach_record *r)
{
	const uint8_t *m = r->plan.mac;
	char text[18];

	if (!r->plan.has_mac)
		return json_null();
	snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4],
		 m[5]);
	return json_text(text);
}

static json_t *drift(unsigned bits)
{
	json_t *array = json_array();
	const char *name;
	unsigned bit;

	for (size_t i = 0; array && (name = attach_drift_name(i, &bit)); i++)
		if (bits & bit)
			array = api_push(array, json_text(name));
	return array;
}

static json_t *vlan(const struct attach_record *r)
{
	return r->plan.vf.fields & VF_VLAN ? json_above_zero(r->plan.vf.vlan) : json_null();
}

json_t *api_attachment(const struct attach_status *a, uint64_t epoch_ms)
{
	const struct attach_record *r = a ? a->record : NULL;
	const struct attach_owner *o = r ? &r->owner : NULL;

	if (!r || r->state == ATTACH_FREE)
		return json_null();
	return json_pack(
		"{ss so so so ss so so so so so so so so so so so so so so so so sI}", "state",
		attach_state_name(r->state), "resource", json_text(r->resource), "id",
		json_text(r->id), "function", json_text(r->function), "door",
		api_door_name(o->door), "namespace", json_text(o->namespace), "pod",
		json_text(o->pod), "container", json_text(o->container), "uid", json_text(o->uid),
		"interface", json_text(r->plan.ifname), "name", json_text(r->origin.name), "rdma",
		json_text(r->rdma), "ips", ips(r), "mac", attach_mac_json(r), "vlan", vlan(r),
		"mtu", json_above_zero(r->plan.mtu), "netns", json_text(o->netns.path), "step",
		json_text(a->step), "since", time_text(a->since_ms + epoch_ms), "error",
		json_text(a->error), "drift", drift(a->drift), "tries", (json_int_t)a->tries);
}

static bool api_is_chosen(const struct attach_record *r, const struct api_filter *filter)
{
	return api_filter_device(filter, r->function) &&
	       api_filter_pod(filter, r->owner.namespace, r->owner.pod);
}

char *api_attachments(struct attach_list list, uint64_t epoch_ms, const struct api_filter *filter,
		      size_t *ret_len)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < list.n; i++)
		if (list.items[i].record->state != ATTACH_FREE &&
		    api_is_chosen(list.items[i].record, filter))
			array = api_push(array, api_attachment(&list.items[i], epoch_ms));
	return api_print(json_pack("{so}", "attachments", array), ret_len);
}

/* --- events ----------------------------------------------------------------------------------- */

bool api_names_pod(const char *wanted, const char *namespace, const char *pod)
{
	const char *slash = strchr(wanted, '/');
	size_t n = slash ? (size_t)(slash - wanted) : 0;

	if (!slash)
		return strcmp(wanted, pod) == 0;
	return strlen(namespace) == n && strncmp(wanted, namespace, n) == 0 &&
	       strcmp(slash + 1, pod) == 0;
}

/* A pod of an event. */
struct event_pod {
	char namespace[64], name[256];
};

/* Iterates over the pods of an event, its own first; *pos begins at 0. False: no more. */
static bool event_next_pod(const struct event *e, size_t *pos, struct event_pod *ret)
{
	const char *at = e->other_pods ? e->other_pods + (*pos ? *pos - 1 : 0) : "";
	size_t len = strcspn(at, ","), slash = strcspn(at, "/,");

	*ret = (struct event_pod){0};
	if (*pos == 0) {
		memcpy(ret->namespace, e->namespace, sizeof(ret->namespace));
		memcpy(ret->name, e->pod, sizeof(ret->name));
		*pos = 1;
		return e->pod[0] != '\0';
	}
	if (len == 0 || slash == len)
		return false;
	snprintf(ret->namespace, sizeof(ret->namespace), "%.*s", (int)slash, at);
	snprintf(ret->name, sizeof(ret->name), "%.*s", (int)(len - slash - 1), at + slash + 1);
	*pos += len + (at[len] == ',');
	return true;
}

static bool event_has_pod(const struct event *e, const char *wanted)
{
	struct event_pod pod;
	size_t pos = 0;

	while (event_next_pod(e, &pos, &pod))
		if (api_names_pod(wanted, pod.namespace, pod.name))
			return true;
	return false;
}

static bool api_is_wanted(const struct event_ring *ring, const struct event_filter *f,
			  const struct event *e)
{
	return (f->after > ring->generation || e->generation > f->after) &&
	       e->last_ms >= f->since_ms && (!f->until_ms || e->first_ms <= f->until_ms) &&
	       (!f->pod || event_has_pod(e, f->pod)) &&
	       (!f->device || strcmp(f->device, e->device) == 0) &&
	       (!f->reason || strcmp(f->reason, e->reason) == 0) &&
	       (!f->has_type || f->type == e->type);
}

static json_t *event_pods(const struct event *e)
{
	json_t *array = json_array();
	struct event_pod pod;
	size_t pos = 0;

	while (array && event_next_pod(e, &pos, &pod))
		array = api_push(array, json_pack("{so so}", "namespace", json_text(pod.namespace),
						  "name", json_text(pod.name)));
	return array;
}

static json_t *event(const struct event *e)
{
	return json_pack("{ss so so so so so so sI so so}", "type", event_type_name(e->type),
			 "reason", json_text(e->reason), "namespace", json_text(e->namespace),
			 "pod", json_text(e->pod), "pods", event_pods(e), "device",
			 json_text(e->device), "message", json_text(e->message), "count",
			 (json_int_t)e->count, "first", time_text(e->first_ms), "last",
			 time_text(e->last_ms));
}

/* Index at which the newest f->limit matching events begin. */
static size_t api_first_of(const struct event_ring *ring, const struct event_filter *f)
{
	size_t i = ring->n, n = 0;

	while (i > 0 && (f->limit == 0 || n < f->limit))
		n += api_is_wanted(ring, f, event_ring_at(ring, --i));
	return i;
}

bool api_events_any(const struct event_ring *ring, const struct event_filter *f)
{
	struct event_filter one = *f;

	one.limit = 1;
	if (!ring || ring->n == 0)
		return false;
	return api_is_wanted(ring, f, event_ring_at(ring, api_first_of(ring, &one)));
}

char *api_events(const struct event_ring *ring, const struct event_filter *f, size_t *ret_len)
{
	json_t *array = json_array();
	size_t i = ring ? api_first_of(ring, f) : 0;

	for (; array && ring && i < ring->n; i++)
		if (api_is_wanted(ring, f, event_ring_at(ring, i)))
			array = api_push(array, event(event_ring_at(ring, i)));
	return api_print(json_pack("{sI so}", "generation",
				   (json_int_t)(ring ? ring->generation : 0), "events", array),
			 ret_len);
}

/* --- doctor ----------------------------------------------------------------------------------- */

static json_t *finding(const struct doctor_finding *f)
{
	return json_pack("{ss ss so so so so so sb}", "kind", finding_kind_name(f->kind), "about",
			 finding_kind_about(f->kind), "object", json_text(f->object), "namespace",
			 json_text(f->namespace), "pod", json_text(f->pod), "what",
			 json_text(f->what), "help", json_text(f->help), "fixable", f->fixable);
}

static json_t *unchecked(const struct doctor *d)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < d->n_unchecked; i++)
		array = api_push(array, json_string(d->unchecked[i]));
	return array;
}

char *api_doctor(const struct doctor *d, const struct api_filter *filter, size_t *ret_len)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < d->n; i++)
		if (api_filter_kind(filter, finding_kind_name(d->findings[i].kind)) &&
		    api_filter_device(filter, d->findings[i].object) &&
		    api_filter_pod(filter, d->findings[i].namespace, d->findings[i].pod))
			array = api_push(array, finding(&d->findings[i]));
	return api_print(json_pack("{so so}", "findings", array, "unchecked", unchecked(d)),
			 ret_len);
}
