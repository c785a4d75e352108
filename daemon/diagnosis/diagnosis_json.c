// SPDX-License-Identifier: Apache-2.0
#include "diagnosis_json.h"

#include <math.h>

#include "json_text.h"
#include "utc_text.h"

/* Returns a JSON number; null for NaN and infinity. */
static json_t *number_json(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *utc_json(uint64_t unix_ms)
{
	char text[UTC_TEXT_SIZE];

	utc_text(unix_ms, text);
	return json_text(text);
}

static json_t *name_json(const struct evidence *e)
{
	char name[EVIDENCE_NAME_SIZE];

	evidence_name(e, name);
	return json_string(name);
}

static json_t *word_json(const struct evidence *e)
{
	char text[EVIDENCE_TEXT_SIZE];

	return evidence_is_word(e) ? json_string(evidence_text(e, text)) : json_null();
}

static json_t *evidence_json(const struct verdict *v)
{
	json_t *list = json_array();

	for (unsigned i = 0; list && i < v->n_evidence; i++) {
		const struct evidence *e = &v->evidence[i];

		list = json_push(list, json_pack("{so so so so so}", "name", name_json(e), "value",
						 number_json(e->value), "word", word_json(e),
						 "unit", json_text(e->unit), "threshold",
						 number_json(e->threshold)));
	}
	return list;
}

static json_t *diagnosis_json_pod(const struct observed_pod *pod)
{
	return json_pack("{so so}", "namespace", json_text(pod->namespace), "name",
			 json_text(pod->name));
}

static json_t *diagnosis_json_pods_json(const struct verdict *v, const struct verdict *all,
					size_t n_all)
{
	const struct observed_pod *pod;
	json_t *list = json_array();
	size_t pos = 0;

	while (list && (pod = verdict_next_pod(v, all, n_all, &pos)) != NULL)
		list = json_push(list, diagnosis_json_pod(pod));
	return list;
}

static json_t *culprits_json(const struct verdict *v)
{
	json_t *list = json_array();

	for (uint32_t i = 0; list && i < v->n_culprits; i++)
		list = json_push(list, diagnosis_json_pod(&v->culprits[i]));
	return list;
}

static json_t *symptoms_json(const struct verdict *v)
{
	json_t *list = json_array();

	for (int c = 0; list && c < N_CAUSES; c++)
		if (v->symptoms & CAUSE_BIT(c))
			list = json_push(list, json_string(cause_row((enum cause)c)->name));
	return list;
}

static json_t *runbook_json(const struct cause_row *row)
{
	return json_sprintf(CAUSE_FOLDER "%s", row->name);
}

json_t *verdict_json(const struct verdict *v, const struct verdict *all, size_t n_all)
{
	const struct cause_row *row = cause_row(v->cause);

	return json_pack(
		"{so si so so ss ss ss si so so sb so so so sb so so so si so so sb so ss so ss ss ss so}",
		"device", json_text(v->device), "port", (int)v->port, "netdev",
		json_text(v->netdev), "function", json_text(v->function), "cause", row->name,
		"rule", row->number, "severity", severity_name(v->severity), "level",
		(int)v->severity, "onset", utc_json(v->onset_unix_ms), "onsetMs",
		json_integer((json_int_t)v->onset_ms), "beforeStart", (int)v->before_start,
		"lastSeen", utc_json(v->last_unix_ms), "firstMoved", json_text(v->first_moved),
		"firstSignal", json_text(v->has_signal ? signal_word(v->first_signal) : ""),
		"sameSample", (int)v->others_moved, "clearingSinceMs",
		json_above_zero(v->clearing_ms), "evidence", evidence_json(v), "pods",
		diagnosis_json_pods_json(v, all, n_all), "podCount", (int)v->n_pods, "causedBy",
		culprits_json(v), "peer", json_text(v->peer), "managementPort", (int)v->management,
		"symptoms", symptoms_json(v), "sentence", row->sentence, "remark",
		json_text(v->remark), "advice", row->advice, "nodeAction",
		node_action_name(cause_node_action(row, v->severity)), "disproof", row->disproof,
		"runbook", runbook_json(row));
}

static json_t *explained_by_json(const struct verdict *v)
{
	return v->closed == CLOSE_EXPLAINED && v->explained_on[0]
		       ? json_string(cause_row(v->explained_by)->name)
		       : json_null();
}

json_t *ended_verdict_json(const struct ended_verdict *e)
{
	json_t *item = verdict_json(&e->verdict, NULL, 0);

	if (item && json_object_set_new(item, "ended", utc_json(e->ended_unix_ms)) == 0 &&
	    json_object_set_new(item, "endedMs", json_integer((json_int_t)e->ended_ms)) == 0 &&
	    json_object_set_new(item, "endedAs", json_text(close_reason_name(e->verdict.closed))) ==
		    0 &&
	    json_object_set_new(item, "explainedBy", explained_by_json(&e->verdict)) == 0)
		return item;
	json_decref(item);
	return NULL;
}

/* --- the report ------------------------------------------------------------------------------- */

static json_t *verdicts_json(const struct diagnosis_report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < r->n_verdicts; i++)
		if (verdict_is_reported(&r->verdicts[i]))
			list = json_push(list,
					 verdict_json(&r->verdicts[i], r->verdicts, r->n_verdicts));
	return list;
}

static json_t *one_undecided_json(const struct port_watched *port, const struct undecided *u)
{
	char why[UNDECIDED_SIZE];

	undecided_text(u, why);
	return json_pack("{so si ss so}", "device", json_text(port->device), "port",
			 (int)port->port, "cause", cause_row(u->cause)->name, "why",
			 json_text(why));
}

static json_t *undecided_json(const struct diagnosis_report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->n_ports; i++) {
		const struct undecided_list *u = r->ports[i].undecided;

		for (size_t k = 0; list && u && k < u->n; k++)
			list = json_push(list, one_undecided_json(&r->ports[i], &u->items[k]));
	}
	return list;
}

static json_t *diagnosis_json_port_json(const struct port_watched *port)
{
	return json_pack("{so si ss sb so si si}", "device", json_text(port->device), "port",
			 (int)port->port, "watch", port_watch_name(port->watch), "held",
			 (int)port->held, "clearSinceMs", json_above_zero(port->clear_ms), "resets",
			 (int)port->resets, "ignoredRates", (int)port->ignored);
}

static json_t *clear_port_json(const struct port_watched *port)
{
	return json_pack("{so si}", "device", json_text(port->device), "port", (int)port->port);
}

/* Returns the ports as JSON. clear: only the ports on which the network is not the bottleneck. */
static json_t *diagnosis_json_ports_json(const struct diagnosis_report *r, bool clear)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < r->n_ports; i++) {
		const struct port_watched *port = &r->ports[i];

		if (!clear || port->clear_ms)
			list = json_push(list, clear ? clear_port_json(port)
						     : diagnosis_json_port_json(port));
	}
	return list;
}

json_t *diagnosis_json(const struct diagnosis_report *r)
{
	return json_pack("{so sI so so so so}", "time", utc_json(r->unix_ms), "timeMs",
			 (json_int_t)r->now_ms, "verdicts", verdicts_json(r), "undecided",
			 undecided_json(r), "notTheNetwork", diagnosis_json_ports_json(r, true),
			 "ports", diagnosis_json_ports_json(r, false));
}
