#include "scenario_write.h"

#include <math.h>
#include <stdio.h>

#include "cleanup.h"
#include "json_text.h"

#define BITS_IN_BYTE 8.0

/* Gives the value away; what there is no memory for makes the whole fail (jansson passes NULL on as
 * an error of the set). */
static bool put(json_t *object, const char *key, json_t *value)
{
	return json_object_set_new(object, key, value) == 0;
}

/* --- settings --------------------------------------------------------------------------------- */

static bool put_dscp(json_t *object, const struct port_settings *s)
{
	json_t *priorities = json_object();
	bool ok = put(object, "trust", json_string(s->dscp_trusted ? "dscp" : "pcp"));

	for (int i = 0; i < N_DSCP; i++) {
		char name[12];

		snprintf(name, sizeof(name), "%d", i);
		if (s->dscp_priority[i] != NO_PRIORITY)
			ok &= put(priorities, name, json_integer(s->dscp_priority[i]));
	}
	return put(object, "dscp_priority", priorities) && ok;
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

	if (link && put(link, "id", json_text(s->segment)))
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
		ok &= put(object, "pfc", json_integer(s->pfc));
	if (s->seen & SETTINGS_PEER_PFC)
		ok &= put(object, "peer_pfc", json_integer(s->peer_pfc));
	if (s->seen & SETTINGS_PAUSE)
		ok &= put(object, "pause_receives", json_boolean(s->pause_receives)) &&
		      put(object, "pause_sends", json_boolean(s->pause_sends));
	if (s->seen & SETTINGS_DCBX)
		ok &= put(object, "dcbx", json_integer(s->dcbx));
	if (s->seen & SETTINGS_CM_TYPE)
		ok &= put(object, "cm_roce_v2", json_boolean(s->cm_roce_v2));
	if (s->seen & SETTINGS_CM_TOS)
		ok &= put(object, "cm_tos", json_integer(s->cm_tos));
	if (s->seen & SETTINGS_PCIE)
		ok &= put(object, "pcie", link_json(&s->pcie));
	if (s->seen & SETTINGS_PCIE_SEGMENT)
		ok &= put(object, "segment", segment_json(s));
	return ok;
}

/* The object, or NULL where something is missing in it. */
static json_t *whole(json_t *object, bool ok)
{
	if (ok)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *settings_json(const struct port_settings *s)
{
	json_t *object = s ? json_object() : json_null();

	return whole(object, !s || put_parts(object, s));
}

/* --- pods, queue pairs, health ---------------------------------------------------------------- */

static json_t *pods_json(const struct port_observation *o)
{
	json_t *list = json_array();
	bool ok = list;

	for (size_t i = 0; i < o->n_pods; i++) {
		const struct observed_pod *pod = &o->pods[i];
		json_t *item = json_pack("{so so sb}", "namespace", json_text(pod->namespace),
					 "name", json_text(pod->name), "ended", pod->ended);

		ok &= json_array_append_new(list, item) == 0;
	}
	return whole(list, ok);
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
		ok = put(object, "one_label", json_integer(q->one_label));
	if (q->failures_known)
		ok = ok && put(object, "failed", json_integer(q->failed)) &&
		     put(object, "failed_peers", json_integer(q->failed_peers)) &&
		     put(object, "peer", json_text(q->peer));
	return whole(object, ok);
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
static json_t *value_json(enum series s, double value)
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
		ok &= put(object, name, value_json((enum series)i, value[i]));
	}
	return whole(object, ok);
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
		ok &= put(object, texts[i].key, json_text(texts[i].text));
	return ok;
}

static bool put_state(json_t *object, const struct port_observation *o)
{
	return put(object, "port", json_integer(o->port)) &&
	       put(object, "visible", json_boolean(o->visible)) &&
	       put(object, "management", json_boolean(o->management)) &&
	       put(object, "admin_down", json_boolean(o->admin_down)) &&
	       put(object, "was_active", json_boolean(o->was_active)) &&
	       put(object, "gid_moved", json_boolean(o->gid_moved)) &&
	       put(object, "state", json_integer(o->state)) &&
	       put(object, "rate_bytes_per_second",
		   json_real((double)o->rate_bps / BITS_IN_BYTE)) &&
	       put(object, "mtu_bytes", json_integer(o->mtu));
}

static json_t *port_json(const struct port_observation *o)
{
	json_t *object = json_object();
	bool ok = object && put_texts(object, o) && put_state(object, o) &&
		  put(object, "pods", pods_json(o)) && put(object, "qps", qps_json(&o->qps)) &&
		  put(object, "health", health_json(&o->health)) &&
		  put(object, "stood", stood_json(o)) &&
		  put(object, "settings", settings_json(o->settings)) &&
		  put(object, "values", values_json(o->value));

	return whole(object, ok);
}

/* --- the line --------------------------------------------------------------------------------- */

static json_t *ports_json(const struct observation *o)
{
	json_t *list = json_array();
	bool ok = list;

	for (size_t i = 0; ok && i < o->n_ports; i++)
		ok = json_array_append_new(list, port_json(&o->ports[i])) == 0;
	return whole(list, ok);
}

static json_t *sources_json(const struct observation *o)
{
	json_t *object = json_object();
	bool ok = object;

	for (int i = 0; i < N_SOURCES; i++) {
		const struct source_state *s = &o->sources[i];
		double age_ms = s->read_ms < o->now_ms ? (double)(o->now_ms - s->read_ms) : 0;

		if (s->used)
			ok &= put(object, source_name((enum source)i), json_real(age_ms / 1000));
	}
	return whole(object, ok);
}

json_t *scenario_line(const struct observation *o)
{
	json_t *line = json_object();
	bool ok = line && put(line, "t", json_real((double)o->now_ms / 1000));

	if (o->unix_ms)
		ok &= put(line, "wall", json_real((double)o->unix_ms / 1000));
	if (o->partial)
		ok &= put(line, "partial", json_true());
	ok = ok && put(line, "sources", sources_json(o)) && put(line, "ports", ports_json(o));
	return whole(line, ok);
}
