#include "diagnosis_json.h"

#include <math.h>

#include "json_text.h"
#include "utc_text.h"

/* Appends to a list and gives the item away; false: out of memory. */
static bool diagnosis_json_append(json_t *list, json_t *item)
{
	return item && json_array_append_new(list, item) == 0;
}

/* The list, or NULL where something is missing in it. */
static json_t *diagnosis_json_whole(json_t *list, bool ok)
{
	if (ok)
		return list;
	json_decref(list);
	return NULL;
}

/* null for what is no number. */
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
	char name[160];
	const char *mark = strchr(e->name, '#');

	if (e->number < 0 || !mark)
		return json_string(e->name);
	snprintf(name, sizeof(name), "%.*s%d%s", (int)(mark - e->name), e->name, e->number,
		 mark + 1);
	return json_string(name);
}

static json_t *evidence_json(const struct verdict *v)
{
	json_t *list = json_array();
	bool ok = list;

	for (unsigned i = 0; ok && i < v->n_evidence; i++) {
		const struct evidence *e = &v->evidence[i];

		ok = diagnosis_json_append(list, json_pack("{so so so so}", "name", name_json(e),
							   "value", number_json(e->value), "unit",
							   json_text(e->unit), "threshold",
							   number_json(e->threshold)));
	}
	return diagnosis_json_whole(list, ok);
}

static json_t *diagnosis_json_pods_json(const struct verdict *v)
{
	json_t *list = json_array();
	bool ok = list;

	for (uint32_t i = 0; ok && i < v->n_pods && i < VERDICT_PODS_MAX; i++)
		ok = diagnosis_json_append(list, json_pack("{so so}", "namespace",
							   json_text(v->pods[i].namespace), "name",
							   json_text(v->pods[i].name)));
	return diagnosis_json_whole(list, ok);
}

static json_t *symptoms_json(const struct verdict *v)
{
	json_t *list = json_array();
	bool ok = list;

	for (int c = 0; ok && c < N_CAUSES; c++)
		if (v->symptoms & CAUSE_BIT(c))
			ok = diagnosis_json_append(list,
						   json_string(cause_row((enum cause)c)->name));
	return diagnosis_json_whole(list, ok);
}

static json_t *runbook_json(const struct cause_row *row)
{
	return json_sprintf(CAUSE_RUNBOOK "#%s", row->name);
}

json_t *verdict_json(const struct verdict *v)
{
	const struct cause_row *row = cause_row(v->cause);

	return json_pack(
		"{so si so so ss ss ss si so so so so sb so so so si so sb so ss so ss ss so}",
		"device", json_text(v->device), "port", (int)v->port, "netdev",
		json_text(v->netdev), "function", json_text(v->function), "cause", row->name,
		"rule", row->number, "severity", severity_name(v->severity), "level",
		(int)v->severity, "confidence", number_json(v->confidence), "onset",
		utc_json(v->onset_unix_ms), "onsetMs", json_integer((json_int_t)v->onset_ms),
		"firstMoved", json_text(v->first_moved), "sameSample", (int)v->others_moved,
		"clearingSinceMs", json_above_zero(v->clearing_ms), "evidence", evidence_json(v),
		"pods", diagnosis_json_pods_json(v), "podCount", (int)v->n_pods, "peer",
		json_text(v->peer), "managementPort", (int)v->management, "symptoms",
		symptoms_json(v), "sentence", row->sentence, "remark", json_text(v->remark),
		"advice", row->advice, "disproof", row->disproof, "runbook", runbook_json(row));
}

/* --- the whole -------------------------------------------------------------------------------- */

static json_t *verdicts_json(const struct diagnosis_report *r)
{
	json_t *list = json_array();
	bool ok = list;

	for (size_t i = 0; ok && i < r->n_verdicts; i++)
		if (verdict_is_told(&r->verdicts[i]))
			ok = diagnosis_json_append(list, verdict_json(&r->verdicts[i]));
	return diagnosis_json_whole(list, ok);
}

static json_t *undecided_json(const struct diagnosis_report *r)
{
	json_t *list = json_array();
	bool ok = list;

	for (size_t i = 0; ok && i < r->n_undecided; i++) {
		const struct undecided *u = &r->undecided[i];
		const struct port_watched *port = &r->ports[u->port];
		char why[UNDECIDED_SIZE];

		undecided_text(u, why);
		ok = diagnosis_json_append(
			list, json_pack("{so si ss so}", "device", json_text(port->device), "port",
					(int)port->port, "cause", cause_row(u->cause)->name, "why",
					json_text(why)));
	}
	return diagnosis_json_whole(list, ok);
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

/* clear: only those of which the network is not what is slow. */
static json_t *diagnosis_json_ports_json(const struct diagnosis_report *r, bool clear)
{
	json_t *list = json_array();
	bool ok = list;

	for (size_t i = 0; ok && i < r->n_ports; i++) {
		const struct port_watched *port = &r->ports[i];

		if (!clear || port->clear_ms)
			ok = diagnosis_json_append(list, clear ? clear_port_json(port)
							       : diagnosis_json_port_json(port));
	}
	return diagnosis_json_whole(list, ok);
}

json_t *diagnosis_json(const struct diagnosis_report *r)
{
	return json_pack("{so sI so so so so}", "time", utc_json(r->unix_ms), "timeMs",
			 (json_int_t)r->now_ms, "verdicts", verdicts_json(r), "undecided",
			 undecided_json(r), "notTheNetwork", diagnosis_json_ports_json(r, true),
			 "ports", diagnosis_json_ports_json(r, false));
}
