// SPDX-License-Identifier: Apache-2.0
#include "api_diagnosis.h"

#include <string.h>

#include "api_attachments.h"
#include "diagnosis_json.h"
#include "host_index.h"
#include "json_out.h"
#include "utc_text.h"

static bool api_is_of_function(const char *function, const struct rdma_dev *dev,
			       const struct verdict *v)
{
	if (dev)
		return strcmp(rdma_function_id(dev), function) == 0;
	return v && (strcmp(v->function, function) == 0 || strcmp(v->device, function) == 0);
}

static bool concerns_pod(const char *pod, const struct diagnosis_report *r, const struct verdict *v)
{
	const struct observed_pod *of;
	size_t pos = 0;

	while (v && (of = verdict_next_pod(v, r->verdicts, r->n_verdicts, &pos)) != NULL)
		if (api_names_pod(pod, of->namespace, of->name))
			return true;
	return false;
}

static bool is_held_by(const struct diagnosis_query *q, const char *device,
		       const struct rdma_dev *dev)
{
	const struct pod_device *holder = dev && q->resources
						  ? resource_table_holder(q->resources,
									  dev->function, device)
						  : NULL;

	return holder && api_names_pod(q->pod, holder->namespace, holder->pod);
}

/* A device that was just removed is no longer in the host's list: its verdicts name its
 * function. */
static bool api_diagnosis_is_wanted(const struct diagnosis_report *r,
				    const struct diagnosis_query *q, const char *device,
				    const struct verdict *v)
{
	const struct rdma_dev *dev;

	if (!q->function && !q->pod)
		return true;
	dev = host_rdma_in(q->host, NSID_HOST, device);
	if (q->function && !api_is_of_function(q->function, dev, v))
		return false;
	return !q->pod || concerns_pod(q->pod, r, v) || is_held_by(q, device, dev);
}

static void api_add_verdicts(struct json_out *o, const struct diagnosis_report *r,
			     const struct diagnosis_query *q)
{
	json_out_open(o, "verdicts", '[');
	for (size_t i = 0; i < r->n_verdicts; i++) {
		const struct verdict *v = &r->verdicts[i];

		if (verdict_is_reported(v) && api_diagnosis_is_wanted(r, q, v->device, v))
			json_out_value(o, NULL, verdict_json(v, r->verdicts, r->n_verdicts));
	}
	json_out_close(o, ']');
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
			      const struct diagnosis_query *q)
{
	json_out_open(o, "undecided", '[');
	for (size_t i = 0; i < r->n_ports; i++)
		if (r->ports[i].undecided &&
		    api_diagnosis_is_wanted(r, q, r->ports[i].device, NULL))
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
			  const struct diagnosis_query *q)
{
	json_out_open(o, "notTheNetwork", '[');
	for (size_t i = 0; i < r->n_ports; i++)
		if (r->ports[i].clear_ms &&
		    api_diagnosis_is_wanted(r, q, r->ports[i].device, NULL)) {
			api_open_port(o, &r->ports[i]);
			json_out_close(o, '}');
		}
	json_out_close(o, ']');
	json_out_open(o, "ports", '[');
	for (size_t i = 0; i < r->n_ports; i++)
		if (api_diagnosis_is_wanted(r, q, r->ports[i].device, NULL))
			api_diagnosis_add_port(o, &r->ports[i]);
	json_out_close(o, ']');
}

char *api_diagnosis(const struct diagnosis_report *r, const struct diagnosis_query *q,
		    size_t *ret_len)
{
	struct json_out o = {0};
	char time[UTC_TEXT_SIZE];

	utc_text(r->unix_ms, time);
	json_out_open(&o, NULL, '{');
	json_out_text(&o, "time", time);
	json_out_number(&o, "timeMs", r->now_ms);
	api_add_verdicts(&o, r, q);
	api_add_undecided(&o, r, q);
	api_add_ports(&o, r, q);
	json_out_close(&o, '}');
	text_add(&o.text, "", 1); /* terminator */
	if (o.text.failed) {
		text_done(&o.text);
		return NULL;
	}
	*ret_len = o.text.len - 1;
	return o.text.data;
}
