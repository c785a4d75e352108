// SPDX-License-Identifier: Apache-2.0
#include "api_diagnosis.h"

#include <string.h>

#include "api_attachments.h"
#include "diagnosis_json.h"
#include "diagnosis_report.h"
#include "host_index.h"
#include "json_out.h"
#include "json_text.h"
#include "search.h"
#include "utc_text.h"

static bool api_is_of_function(const char *function, const struct rdma_dev *dev,
			       const struct verdict *v)
{
	if (dev)
		return strcmp(rdma_function_id(dev), function) == 0;
	return v && (strcmp(v->function, function) == 0 || strcmp(v->device, function) == 0);
}

/* The first RDMA device of a function; NULL: it has none. */
static const struct rdma_dev *api_diagnosis_rdma(const struct host *h, const char *function)
{
	return find_first(h->rdma, h->n_rdma, i,
			  strcmp(rdma_function_id(&h->rdma[i]), function) == 0);
}

/* At most this many devices of a pod are considered. */
#define POD_FUNCTIONS_MAX 64

/* A query, and the functions that its pod has: exclusively or as slots. */
struct selection {
	const struct diagnosis_query *q;
	const char *functions[POD_FUNCTIONS_MAX];
	size_t n_functions;
};

static void selection_init(struct selection *ret, const struct diagnosis_query *q)
{
	const struct condition_sources *s = q->sources;
	const struct pod_list *held = s->resources && q->pod ? &s->resources->table->held : NULL;

	*ret = (struct selection){.q = q};
	for (size_t i = 0; held && i < held->n; i++) {
		const struct pod_device *d = &held->devices[i];
		const char *function = api_names_pod(q->pod, d->namespace, d->pod)
					       ? condition_function(s, d)
					       : NULL;

		if (function && ret->n_functions < POD_FUNCTIONS_MAX)
			ret->functions[ret->n_functions++] = function;
	}
}

/* True if the pod has a VF that a verdict of its PF affects. The verdict itself names only the
 * first pods. */
static bool has_affected_vf(const struct selection *of, const struct verdict *v)
{
	const struct condition_sources *s = of->q->sources;
	const struct diagnosis_report *r = s->report;

	for (size_t i = 0; i < of->n_functions; i++) {
		const char *function = of->functions[i];
		const struct function *fn = host_function(s->host, function);
		const struct rdma_dev *dev = api_diagnosis_rdma(s->host, function);

		if (fn && verdict_relation(v, r->verdicts, r->n_verdicts, dev ? dev->name : "",
					   v->port, fn->parent) == VERDICT_OF_PF)
			return true;
	}
	return false;
}

static bool concerns_pod(const struct selection *s, const struct verdict *v)
{
	const struct diagnosis_report *r = s->q->sources->report;
	const struct observed_pod *of;
	size_t pos = 0;

	for (uint32_t i = 0; v && i < v->n_culprits; i++)
		if (api_names_pod(s->q->pod, v->culprits[i].namespace, v->culprits[i].name))
			return true;
	while (v && (of = verdict_next_pod(v, r->verdicts, r->n_verdicts, &pos)) != NULL)
		if (api_names_pod(s->q->pod, of->namespace, of->name))
			return true;
	return v && has_affected_vf(s, v);
}

static bool is_held_by(const struct selection *s, const struct rdma_dev *dev)
{
	return dev &&
	       any_of(s->n_functions, i, strcmp(s->functions[i], rdma_function_id(dev)) == 0);
}

/* True if a pod has the queried function, and the verdict is one of its PF that affects it. */
static bool concerns_function(const struct diagnosis_query *q, const struct verdict *v)
{
	const struct condition_sources *s = q->sources;
	const struct function *fn = host_function(s->host, q->function);
	const struct rdma_dev *dev = fn ? api_diagnosis_rdma(s->host, fn->id) : NULL;
	const char *rdma = dev ? dev->name : "";

	return v && fn && s->resources &&
	       resource_table_holder(s->resources->table, fn->id, rdma) &&
	       verdict_relation(v, s->report->verdicts, s->report->n_verdicts, rdma, v->port,
				fn->parent) == VERDICT_OF_PF;
}

/* True if the query selects the port, or the verdict (NULL: none). A device that was just removed
 * is no longer in the host's list; then the function that the verdict names is compared. */
static bool api_diagnosis_is_wanted(const struct selection *s, const char *device, uint32_t port,
				    const struct verdict *v)
{
	const struct diagnosis_query *q = s->q;
	const struct rdma_dev *dev;

	if (q->port && port != q->port)
		return false;
	if (!q->function && !q->pod)
		return true;
	dev = host_rdma_sampled(q->sources->host, device);
	if (q->function && !api_is_of_function(q->function, dev, v) && !concerns_function(q, v))
		return false;
	return !q->pod || concerns_pod(s, v) || is_held_by(s, dev);
}

/* True if the time of the query does not end before this onset. */
static bool began_in_time(const struct diagnosis_query *q, uint64_t onset_unix_ms)
{
	return !q->until_ms || onset_unix_ms <= q->until_ms;
}

static void api_add_verdicts(struct json_out *o, const struct diagnosis_report *r,
			     const struct selection *s)
{
	json_out_open(o, "verdicts", '[');
	for (size_t i = 0; i < r->n_verdicts; i++) {
		const struct verdict *v = &r->verdicts[i];

		if (verdict_is_reported(v) && began_in_time(s->q, v->onset_unix_ms) &&
		    api_diagnosis_is_wanted(s, v->device, v->port, v))
			json_out_value(o, NULL, verdict_json(v, r->verdicts, r->n_verdicts));
	}
	json_out_close(o, ']');
}

static bool is_in_range(const struct diagnosis_query *q, const struct ended_verdict *e)
{
	return e->ended_unix_ms >= q->since_ms && began_in_time(q, e->verdict.onset_unix_ms);
}

/* Adds the verdicts that have ended, the newest first. */
static void api_add_ended(struct json_out *o, const struct diagnosis_report *r,
			  const struct selection *s)
{
	json_out_open(o, "ended", '[');
	for (size_t i = r->n_ended; i-- > 0;) {
		const struct verdict *v = &r->ended[i].verdict;

		if (is_in_range(s->q, &r->ended[i]) &&
		    ended_is_over(&r->ended[i], r->verdicts, r->n_verdicts) &&
		    api_diagnosis_is_wanted(s, v->device, v->port, v))
			json_out_value(o, NULL, ended_verdict_json(&r->ended[i]));
	}
	json_out_close(o, ']');
}

/* The time from which on every verdict that ended is in the report. */
static uint64_t known_since(const struct diagnosis_query *q)
{
	const struct diagnosis_report *r = q->sources->report;
	uint64_t since = r->unix_ms > ENDED_KEPT_MS ? r->unix_ms - ENDED_KEPT_MS : 0;
	uint64_t oldest = r->n_ended == ENDED_MAX ? r->ended[0].ended_unix_ms : 0;

	since = since > oldest ? since : oldest;
	return since > q->started_unix_ms ? since : q->started_unix_ms;
}

static void api_add_moment(struct json_out *o, const char *key, uint64_t unix_ms)
{
	char text[UTC_TEXT_SIZE];

	utc_text(unix_ms, text);
	json_out_text(o, key, text);
}

static void api_open_port(struct json_out *o, const struct port_watched *port)
{
	json_out_open(o, NULL, '{');
	json_out_text(o, "device", port->device);
	json_out_number(o, "port", port->port);
}

static void api_add_undecided_of(struct json_out *o, const struct port_watched *port)
{
	for (size_t i = 0; i < port->undecided->n; i++) {
		const struct undecided *u = &port->undecided->items[i];
		char why[UNDECIDED_SIZE];

		undecided_text(u, why);
		api_open_port(o, port);
		json_out_text(o, "cause", cause_row(u->cause)->name);
		json_out_text(o, "why", why);
		json_out_close(o, '}');
	}
}

static void api_add_undecided(struct json_out *o, const struct diagnosis_report *r,
			      const struct selection *s)
{
	json_out_open(o, "undecided", '[');
	for (size_t i = 0; i < r->n_ports; i++)
		if (r->ports[i].undecided &&
		    api_diagnosis_is_wanted(s, r->ports[i].device, r->ports[i].port, NULL))
			api_add_undecided_of(o, &r->ports[i]);
	json_out_close(o, ']');
}

static void api_diagnosis_add_port(struct json_out *o, const struct port_watched *port)
{
	api_open_port(o, port);
	json_out_text(o, "watch", port_watch_name(port->watch));
	json_out_bool(o, "held", port->held);
	json_out_known(o, "clearSinceMs", port->clear_ms > 0, port->clear_ms);
	json_out_number(o, "resets", port->resets);
	json_out_number(o, "ignoredRates", port->ignored);
	json_out_close(o, '}');
}

static void api_add_ports(struct json_out *o, const struct diagnosis_report *r,
			  const struct selection *s)
{
	json_out_open(o, "notTheNetwork", '[');
	for (size_t i = 0; i < r->n_ports; i++)
		if (r->ports[i].clear_ms &&
		    api_diagnosis_is_wanted(s, r->ports[i].device, r->ports[i].port, NULL)) {
			api_open_port(o, &r->ports[i]);
			json_out_close(o, '}');
		}
	json_out_close(o, ']');
	json_out_open(o, "ports", '[');
	for (size_t i = 0; i < r->n_ports; i++)
		if (api_diagnosis_is_wanted(s, r->ports[i].device, r->ports[i].port, NULL))
			api_diagnosis_add_port(o, &r->ports[i]);
	json_out_close(o, ']');
}

/* --- troubles --------------------------------------------------------------------------------- */

/* The device that a trouble concerns, and the pod that has it. */
struct trouble_object {
	const char *device, *namespace, *pod, *container;
};

static void api_add_trouble(struct json_out *o, const struct host *host,
			    const struct trouble_object *of, json_t *trouble)
{
	const struct netdev *netdev = host_function_netdev(host, of->device);
	const struct rdma_dev *rdma = api_diagnosis_rdma(host, of->device);
	json_t *object = json_pack("{so so so so so so}", "device", json_text(of->device), "rdma",
				   json_text(rdma ? rdma->name : ""), "netdev",
				   json_text(netdev ? netdev->name : ""), "namespace",
				   json_text(of->namespace), "pod", json_text(of->pod), "container",
				   json_text(of->container));

	if (!object || !trouble || json_object_update(object, trouble) < 0) {
		json_decref(object);
		object = NULL;
	}
	json_decref(trouble);
	json_out_value(o, NULL, object);
}

/* Adds the troubles of the device. The verdicts are in the document, and api_add_lost_links() adds
 * the links. */
static void api_add_condition_troubles(struct json_out *o, const struct diagnosis_query *q,
				       const struct condition *c, const struct trouble_object *of)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->troubles[i].kind != TROUBLE_VERDICT && c->troubles[i].kind != TROUBLE_LINK &&
		    began_in_time(q, c->troubles[i].since_unix_ms))
			api_add_trouble(o, q->sources->host, of, trouble_json(&c->troubles[i]));
}

static bool wants_trouble_of(const struct diagnosis_query *q, const struct trouble_object *of)
{
	return (!q->function || strcmp(q->function, of->device) == 0) &&
	       (!q->pod || api_names_pod(q->pod, of->namespace, of->pod));
}

/* Adds the troubles of devices that containers have. */
static void api_add_held_troubles(struct json_out *o, const struct diagnosis_query *q)
{
	const struct condition_sources *s = q->sources;
	const struct pod_list *held = s->resources ? &s->resources->table->held : NULL;
	struct condition c;

	for (size_t i = 0; held && i < held->n; i++) {
		const struct pod_device *d = &held->devices[i];
		const char *function = condition_function(s, d);
		const struct trouble_object of = {function ? function : d->id, d->namespace, d->pod,
						  d->container};

		if (!(d->pod[0] || d->uid[0]) || !wants_trouble_of(q, &of))
			continue;
		condition_of_pod_device(&c, s, d);
		api_add_condition_troubles(o, q, &c, &of);
	}
}

/* Adds the troubles of attachments that belong to no container in the kubelet's list: those of pods
 * that have ended, and those that an admin made. */
static void api_add_attached_troubles(struct json_out *o, const struct diagnosis_query *q)
{
	const struct condition_sources *s = q->sources;
	const struct pod_list *held = s->resources ? &s->resources->table->held : NULL;
	struct condition c;

	for (size_t i = 0; i < s->attachments.n; i++) {
		const struct attach_status *a = &s->attachments.items[i];
		const struct attach_record *r = a->record;
		const struct trouble_object of = {r->function[0] ? r->function : r->id,
						  r->owner.namespace, r->owner.pod,
						  r->owner.container};

		if ((held && pod_list_find(held, r->resource, r->id, NULL)) ||
		    !wants_trouble_of(q, &of))
			continue;
		condition_of_attachment(&c, s, a);
		api_add_condition_troubles(o, q, &c, &of);
	}
}

/* Adds the troubles of the queried device, if no container has it. */
static void api_add_free_troubles(struct json_out *o, const struct diagnosis_query *q)
{
	const struct condition_sources *s = q->sources;
	const struct trouble_object of = {q->function, "", "", ""};
	struct condition c;

	if (!q->function || q->pod ||
	    (s->resources && resource_table_holder(s->resources->table, q->function, "")))
		return;
	condition_of_health(&c, s, q->function);
	api_add_condition_troubles(o, q, &c, &of);
}

static void add_link_troubles(struct json_out *o, const struct diagnosis_query *q,
			      const struct port_watched *p)
{
	const struct condition_sources *s = q->sources;
	const struct rdma_dev *dev = host_rdma_sampled(s->host, p->device);
	const struct function *fn = dev ? host_function(s->host, rdma_function_id(dev)) : NULL;
	const struct pod_device *d = dev && s->resources
					     ? resource_table_holder(s->resources->table,
								     dev->function, dev->name)
					     : NULL;
	const struct trouble_object of = {fn ? fn->id : p->device, d ? d->namespace : "",
					  d ? d->pod : "", d ? d->container : ""};
	struct condition c;

	condition_of_port(&c, s, p->device, p->port, fn, d);
	for (size_t i = 0; i < c.n; i++)
		if (c.troubles[i].kind == TROUBLE_LINK &&
		    began_in_time(q, c.troubles[i].since_unix_ms))
			api_add_trouble(o, s->host, &of, trouble_json(&c.troubles[i]));
}

/* Of the pods' ports: also of those that the kubelet's list lacks. */
static void api_add_lost_links(struct json_out *o, const struct selection *of)
{
	const struct diagnosis_report *r = of->q->sources->report;

	for (size_t i = 0; i < r->n_ports; i++)
		if (r->ports[i].watch == WATCH_DOWN && r->ports[i].held &&
		    api_diagnosis_is_wanted(of, r->ports[i].device, r->ports[i].port, NULL))
			add_link_troubles(o, of->q, &r->ports[i]);
}

static void api_add_troubles(struct json_out *o, const struct diagnosis_query *q,
			     const struct selection *s)
{
	json_out_open(o, "troubles", '[');
	api_add_held_troubles(o, q);
	api_add_lost_links(o, s);
	api_add_attached_troubles(o, q);
	api_add_free_troubles(o, q);
	json_out_close(o, ']');
}

char *api_diagnosis(const struct diagnosis_query *q, size_t *ret_len)
{
	const struct diagnosis_report *r = q->sources->report;
	struct selection s;
	struct json_out o = {0};

	selection_init(&s, q);
	json_out_open(&o, NULL, '{');
	api_add_moment(&o, "time", r->unix_ms);
	json_out_number(&o, "timeMs", r->now_ms);
	api_add_verdicts(&o, r, &s);
	if (q->ended) {
		api_add_moment(&o, "since", q->since_ms);
		api_add_moment(&o, "until", q->until_ms);
		api_add_moment(&o, "knownSince", known_since(q));
		api_add_ended(&o, r, &s);
	}
	api_add_undecided(&o, r, &s);
	api_add_ports(&o, r, &s);
	api_add_troubles(&o, q, &s);
	json_out_close(&o, '}');
	text_add(&o.text, "", 1); /* terminator */
	if (o.text.failed) {
		text_done(&o.text);
		return NULL;
	}
	*ret_len = o.text.len - 1;
	return o.text.data;
}
