#include "scenario_write.h"

#include <math.h>
#include <stdio.h>

#include "cleanup.h"
#include "json_text.h"

#define BITS_IN_BYTE 8.0

/* Gives the value away; what there is no memory for makes the whole fail (jansson passes NULL on as
 * an error of the set). */
static bool scenario_put(json_t *object, const char *key, json_t *value)
{
	return json_object_set_new(object, key, value) == 0;
}

/* --- settings --------------------------------------------------------------------------------- */

static bool put_dscp(json_t *object, const struct port_settings *s)
{
	json_t *priorities = json_object();
	bool ok = scenario_put(object, "trust", json_string(s->dscp_trusted ? "dscp" : "pcp"));

	for (int i = 0; i < N_DSCP; i++) {
		char name[12];

		snprintf(name, sizeof(name), "%d", i);
		if (s->dscp_priority[i] != NO_PRIORITY)
			ok &= scenario_put(priorities, name, json_integer(s->dscp_priority[i]));
	}
	return scenario_put(object, "dscp_priority", priorities) && ok;
}

/* Mega transfers a second are whole thousands and halves of them. */
static json_t *link_json(const struct pcie_link *l)
{
	return json_pack("{si si sf sf}", "width", l->width, "max_width", l->max_width, "gt_s",
			 l->mt_s / 1000.0, "max_gt_s", l->max_mt_s / 1000.0);
}

/* A path up without a slow bridge is a link that could not be faster. */
static json_t *segment_json(const struct port_settings *s)
{
	json_t *link = link_json(&s->segment_link);

	if (link && scenario_put(link, "id", json_text(s->segment)))
		return link;
	json_decref(link);
	return NULL;
}

static bool put_parts(json_t *object, const struct port_settings *s)
{
	bool ok = true;

	if (s->seen & SETTINGS_DSCP)
		ok = put_dscp(object, s);
	if (s->seen & SETTINGS_PFC)
		ok &= scenario_put(object, "pfc", json_integer(s->pfc));
	if (s->seen & SETTINGS_PEER_PFC)
		ok &= scenario_put(object, "peer_pfc", json_integer(s->peer_pfc));
	if (s->seen & SETTINGS_PAUSE)
		ok &= scenario_put(object, "pause_receives", json_boolean(s->pause_receives)) &&
		      scenario_put(object, "pause_sends", json_boolean(s->pause_sends));
	if (s->seen & SETTINGS_DCBX)
		ok &= scenario_put(object, "dcbx", json_integer(s->dcbx));
	if (s->seen & SETTINGS_CM_TYPE)
		ok &= scenario_put(object, "cm_roce_v2", json_boolean(s->cm_roce_v2));
	if (s->seen & SETTINGS_CM_TOS)
		ok &= scenario_put(object, "cm_tos", json_integer(s->cm_tos));
	if (s->seen & SETTINGS_PCIE)
		ok &= scenario_put(object, "pcie", link_json(&s->pcie));
	if (s->seen & SETTINGS_PCIE_SEGMENT)
		ok &= scenario_put(object, "segment", segment_json(s));
	return ok;
}

/* The object, or NULL where something is missing in it. */
static json_t *scenario_whole(json_t *object, bool ok)
{
	if (ok)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *settings_json(const struct port_settings *s)
{
	json_t *object = s ? json_object() : json_null();

	return scenario_whole(object, !s || put_parts(object, s));
}

/* --- pods, queue pairs, health ---------------------------------------------------------------- */

static json_t *scenario_pods_json(const struct port_observation *o)
{
	json_t *list = json_array();
	bool ok = list;

	for (size_t i = 0; i < o->n_pods; i++) {
		const struct observed_pod *pod = &o->pods[i];
		json_t *item = json_pack("{so so sb}", "namespace", json_text(pod->namespace),
					 "name", json_text(pod->name), "ended", pod->ended);

		ok &= json_array_append_new(list, item) == 0;
	}
	return scenario_whole(list, ok);
}

static json_t *qps_json(const struct observed_qps *q)
{
	json_t *object;
	bool ok = true;

	if (!q->known)
		return json_null();
	object = json_pack("{sI sI sI sI}", "count", (json_int_t)q->count, "peers",
			   (json_int_t)q->peers, "not_ect", (json_int_t)q->not_ect, "path_mtu",
			   (json_int_t)q->path_mtu);
	if (q->labels_known)
		ok = scenario_put(object, "one_label", json_integer(q->one_label));
	if (q->failures_known)
		ok = ok && scenario_put(object, "failed", json_integer(q->failed)) &&
		     scenario_put(object, "failed_peers", json_integer(q->failed_peers)) &&
		     scenario_put(object, "peer", json_text(q->peer));
	return scenario_whole(object, ok);
}

static json_t *health_json(const struct observed_health *h)
{
	return json_pack("{so sb sb sI so sb sb}", "devlink_error", json_text(h->devlink_error),
			 "unreachable", h->unreachable, "driverless", h->driverless,
			 "command_failures", (json_int_t)h->command_failures, "restricted",
			 json_text(h->restricted), "no_uverbs", h->no_uverbs, "no_umad",
			 h->no_umad);
}

static json_t *seconds_json(double s)
{
	return isnan(s) ? json_null() : json_real(s);
}

static json_t *stood_json(const struct port_observation *o)
{
	return json_pack("{so so}", "received", seconds_json(o->stood_received_s), "sent",
			 seconds_json(o->stood_sent_s));
}

/* --- the port --------------------------------------------------------------------------------- */

/* What is counted in whole is written so, as far as a double has it so. */
static json_t *scenario_value_json(enum series s, double value)
{
	return series_kind(s) == SERIES_EVENTS && value < 9e15 ? json_integer((json_int_t)value)
							       : json_real(value);
}

static json_t *values_json(const double value[N_SERIES])
{
	json_t *object = json_object();
	char name[SERIES_NAME_SIZE];
	bool ok = object;

	for (int i = 0; i < N_SERIES; i++) {
		if (isnan(value[i]))
			continue;
		series_full_name((enum series)i, name);
		ok &= scenario_put(object, name, scenario_value_json((enum series)i, value[i]));
	}
	return scenario_whole(object, ok);
}

static bool put_texts(json_t *object, const struct port_observation *o)
{
	const struct {
		const char *key, *text;
	} texts[] = {
		{"device", o->device},
		{"netdev", o->netdev},
		{"driver", o->driver},
		{"function", o->function},
		{"parent", o->parent},
		{"bytes_source", o->bytes_source},
		{"link_layer", o->link_layer == LINK_INFINIBAND ? "infiniband" : "ethernet"},
	};
	bool ok = true;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		ok &= scenario_put(object, texts[i].key, json_text(texts[i].text));
	return ok;
}

static bool scenario_put_state(json_t *object, const struct port_observation *o)
{
	return scenario_put(object, "port", json_integer(o->port)) &&
	       scenario_put(object, "visible", json_boolean(o->visible)) &&
	       scenario_put(object, "management", json_boolean(o->management)) &&
	       scenario_put(object, "admin_down", json_boolean(o->admin_down)) &&
	       scenario_put(object, "was_active", json_boolean(o->was_active)) &&
	       scenario_put(object, "gid_moved", json_boolean(o->gid_moved)) &&
	       scenario_put(object, "state", json_integer(o->state)) &&
	       scenario_put(object, "rate_bytes_per_second",
			    json_real((double)o->rate_bps / BITS_IN_BYTE)) &&
	       scenario_put(object, "mtu_bytes", json_integer(o->mtu));
}

static json_t *scenario_port_json(const struct port_observation *o)
{
	json_t *object = json_object();
	bool ok = object && put_texts(object, o) && scenario_put_state(object, o) &&
		  scenario_put(object, "pods", scenario_pods_json(o)) &&
		  scenario_put(object, "qps", qps_json(&o->qps)) &&
		  scenario_put(object, "health", health_json(&o->health)) &&
		  scenario_put(object, "stood", stood_json(o)) &&
		  scenario_put(object, "settings", settings_json(o->settings)) &&
		  scenario_put(object, "values", values_json(o->value));

	return scenario_whole(object, ok);
}

/* --- the line --------------------------------------------------------------------------------- */

static json_t *scenario_ports_json(const struct observation *o)
{
	json_t *list = json_array();
	bool ok = list;

	for (size_t i = 0; ok && i < o->n_ports; i++)
		ok = json_array_append_new(list, scenario_port_json(&o->ports[i])) == 0;
	return scenario_whole(list, ok);
}

static json_t *sources_json(const struct observation *o)
{
	json_t *object = json_object();
	bool ok = object;

	for (int i = 0; i < N_SOURCES; i++) {
		const struct source_state *s = &o->sources[i];
		double age_ms = s->read_ms < o->now_ms ? (double)(o->now_ms - s->read_ms) : 0;

		if (s->used)
			ok &= scenario_put(object, source_name((enum source)i),
					   json_real(age_ms / 1000));
	}
	return scenario_whole(object, ok);
}

json_t *scenario_line(const struct observation *o)
{
	json_t *line = json_object();
	bool ok = line && scenario_put(line, "t", json_real((double)o->now_ms / 1000));

	if (o->unix_ms)
		ok &= scenario_put(line, "wall", json_real((double)o->unix_ms / 1000));
	if (o->partial)
		ok &= scenario_put(line, "partial", json_true());
	ok = ok && scenario_put(line, "sources", sources_json(o)) &&
	     scenario_put(line, "ports", scenario_ports_json(o));
	return scenario_whole(line, ok);
}
