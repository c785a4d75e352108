// SPDX-License-Identifier: Apache-2.0
#include "ctl_diagnose.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "ctl_diagnosis.h"
#include "ctl_show_diagnosis.h"
#include "ctl_table.h"
#include "diagnosis_json.h"
#include "scenario.h"

#define JSON_STYLE (JSON_COMPACT | JSON_REAL_PRECISION(9))

/* One replay. Changes are written at once, so that memory use does not grow with the file. */
struct replay {
	const struct ctl_args *args;
	FILE *out, *err;
	struct scenario *scenario;
	struct diagnosis *diagnosis;
	uint64_t now_ms;
	uint64_t samples, n_printed;
	enum severity worst; /* of all verdicts that were open at some time */
};

static bool wants_json(const struct replay *r)
{
	return ctl_args_want_document(r->args);
}

static double seconds_of(uint64_t ms)
{
	return ((double)ms - SCENARIO_BASE_MS) / 1000;
}

static void complain(const char *message, void *err)
{
	fputs("rocectl: ", err);
	table_put(message, err);
	fputc('\n', err);
}

/* --- as text ---------------------------------------------------------------------------------- */

static void ctl_put_evidence(const struct evidence *e, FILE *f)
{
	char name[EVIDENCE_NAME_SIZE], text[EVIDENCE_TEXT_SIZE];

	if (isnan(e->value))
		return;
	evidence_name(e, name);
	fprintf(f, "              %s = %s", name, evidence_text(e, text));
	if (!isnan(e->threshold))
		fprintf(f, " (limit %s)", evidence_value_text(e->threshold, e->unit, text));
	fputc('\n', f);
}

static void ctl_put_all_evidence(const struct verdict *v, FILE *f)
{
	for (unsigned i = 0; i < v->n_evidence; i++)
		ctl_put_evidence(&v->evidence[i], f);
}

static void ctl_put_pods(const struct verdict *v, FILE *f)
{
	for (uint32_t i = 0; i < v->n_pods && i < VERDICT_PODS_MAX; i++) {
		fputs(i ? ", " : "              pod: ", f);
		table_put(v->pods[i].namespace, f);
		fputc('/', f);
		table_put(v->pods[i].name, f);
	}
	if (v->n_pods > VERDICT_PODS_MAX)
		fprintf(f, " and %u more", v->n_pods - VERDICT_PODS_MAX);
	if (v->n_pods)
		fputc('\n', f);
	for (uint32_t i = 0; i < v->n_culprits; i++) {
		fputs(i ? ", " : "              caused by: ", f);
		table_put(v->culprits[i].namespace, f);
		fputc('/', f);
		table_put(v->culprits[i].name, f);
	}
	if (v->n_culprits)
		fputc('\n', f);
}

static void ctl_put_symptoms(const struct verdict *v, FILE *f)
{
	const char *separator = "              explains: ";

	for (int c = 0; c < N_CAUSES; c++) {
		if (!(v->symptoms & CAUSE_BIT(c)))
			continue;
		fprintf(f, "%s%s", separator, cause_row((enum cause)c)->name);
		separator = ", ";
	}
	if (v->symptoms)
		fputc('\n', f);
}

static void put_details(const struct verdict *v, FILE *f)
{
	const struct cause_row *row = cause_row(v->cause);

	fprintf(f, "              %s\n", row->sentence);
	if (v->remark)
		fprintf(f, "              %s\n", v->remark);
	fprintf(f, "              since %s%.1f s; ", v->before_start ? "before " : "",
		seconds_of(v->onset_ms));
	fprintf(f, v->first_moved[0] ? "first moved: %s%s\n" : "nothing else has moved%s%s\n",
		v->first_moved, v->others_moved ? ", others in the same sample" : "");
	ctl_put_all_evidence(v, f);
	ctl_put_pods(v, f);
	if (v->peer[0]) {
		fputs("              peer: ", f);
		table_put(v->peer, f);
		fputc('\n', f);
	}
	ctl_put_symptoms(v, f);
	fprintf(f, "              advice: %s\n              ruled out if: %s\n", row->advice,
		row->disproof);
	fprintf(f, "              more: rocectl explain %s\n", row->name);
}

static void ctl_put_change(const struct replay *r, const struct verdict *v)
{
	fprintf(r->out, "%10.1f s  %-8s  %-8s  ", seconds_of(r->now_ms),
		v->change == VERDICT_CLOSED ? close_reason_name(v->closed)
					    : verdict_change_name(v->change),
		severity_name(v->severity));
	table_put(v->device, r->out);
	fprintf(r->out, "/%u  %s\n", v->port, cause_row(v->cause)->name);
	if (v->change == VERDICT_OPENED)
		put_details(v, r->out);
	if (v->change == VERDICT_SEVERITY)
		ctl_put_all_evidence(v, r->out);
}

static void put_undecided(const struct replay *r)
{
	struct table t = {.heads = {"DEVICE", "PORT", "CANNOT BE DECIDED", "BECAUSE"},
			  .n_columns = 4};

	for (size_t p = 0; p < diagnosis_n_ports(r->diagnosis); p++)
		for (int c = 0; c < N_CAUSES; c++) {
			char why[UNDECIDED_SIZE], number[16];
			struct port_watched port;

			if (!diagnosis_undecided(r->diagnosis, p, (enum cause)c, why))
				continue;
			diagnosis_port(r->diagnosis, p, &port);
			snprintf(number, sizeof(number), "%u", port.port);
			table_add(&t, port.device);
			table_add(&t, number);
			table_add(&t, cause_row((enum cause)c)->name);
			table_add(&t, why);
		}
	table_print(&t, NULL, r->out);
	table_done(&t);
}

static void put_clear(const struct replay *r)
{
	for (size_t p = 0; p < diagnosis_n_ports(r->diagnosis); p++) {
		struct port_watched port;

		diagnosis_port(r->diagnosis, p, &port);
		if (!port.clear_ms)
			continue;
		table_put(port.device, r->out);
		fprintf(r->out,
			"/%u: the network is not the bottleneck: no symptoms since %.1f s\n",
			port.port, seconds_of(port.clear_ms));
	}
}

/* --- as a document ---------------------------------------------------------------------------- */

/* The document is one object that is written piece by piece: the scenario, the events, and at the
 * end the open verdicts. */
static void begin_document(const struct replay *r)
{
	json_auto_t *title = json_string(scenario_title(r->scenario));
	char *text = title ? json_dumps(title, JSON_ENCODE_ANY) : NULL;

	fprintf(r->out, "{\"scenario\":%s,\n\"events\":[", text ? text : "null");
	free(text);
}

static void add_event(struct replay *r, const struct verdict *v)
{
	bool closed = v->change == VERDICT_CLOSED;
	json_auto_t *event = json_pack("{sf ss ss? sf so}", "t", seconds_of(r->now_ms), "event",
				       verdict_change_name(v->change), "reason",
				       closed ? close_reason_name(v->closed) : NULL, "onset",
				       seconds_of(v->onset_ms), "verdict",
				       verdict_json(v, NULL, 0));

	fputs(r->n_printed ? ",\n" : "\n", r->out);
	if (!event || json_dumpf(event, r->out, JSON_STYLE) < 0)
		fputs("null", r->out);
}

static void end_document(const struct replay *r)
{
	struct diagnosis_report report = {0};
	json_t *end = diagnosis_report_make(&report, r->diagnosis) == 0 ? diagnosis_json(&report)
									: NULL;

	fprintf(r->out, "\n],\n\"samples\":%llu,\n\"end\":", (unsigned long long)r->samples);
	if (!end || json_dumpf(end, r->out, JSON_STYLE) < 0)
		fputs("null", r->out);
	fputs("}\n", r->out);
	json_decref(end);
	diagnosis_report_done(&report);
}

/* --- text or document ------------------------------------------------------------------------- */

static void replay_print_changes(struct replay *r)
{
	size_t n;
	const struct verdict *v = diagnosis_verdicts(r->diagnosis, &n);

	for (size_t i = 0; i < n; i++) {
		bool became_symptom = v[i].change == VERDICT_CLOSED &&
				      v[i].closed == CLOSE_EXPLAINED;

		if (v[i].change == VERDICT_SAME || (v[i].explained && !became_symptom))
			continue;
		if (v[i].change != VERDICT_CLOSED && v[i].severity > r->worst)
			r->worst = v[i].severity;
		if (wants_json(r))
			add_event(r, &v[i]);
		else
			ctl_put_change(r, &v[i]);
		r->n_printed++;
	}
}

static int replay_all(struct replay *r, struct err *e)
{
	struct observation o;
	int more;

	while ((more = scenario_next(r->scenario, &o, e)) > 0) {
		r->now_ms = o.now_ms;
		r->samples++;
		if (diagnosis_tick(r->diagnosis, &o) < 0)
			return err_set(e, -ENOMEM, "out of memory");
		replay_print_changes(r);
	}
	return more;
}

static enum ctl_exit replay_file(struct replay *r, FILE *file, struct err *e)
{
	struct thresholds limits;
	int failed;

	thresholds_init(&limits);
	failed = scenario_open(&r->scenario, file, r->args->replay, &limits, complain, r->err, e);
	if (failed == 0 && diagnosis_new(&r->diagnosis, &limits) < 0)
		failed = err_set(e, -ENOMEM, "out of memory");
	if (failed < 0)
		return CTL_NO;
	if (wants_json(r))
		begin_document(r);
	failed = replay_all(r, e);
	scenario_sum_up(r->scenario);
	if (wants_json(r)) {
		end_document(r);
	} else {
		fprintf(r->out, "%s%llu samples\n", r->n_printed ? "\n" : "no verdict in ",
			(unsigned long long)r->samples);
		put_clear(r);
		put_undecided(r);
	}
	return failed < 0 ? CTL_NO : ctl_diagnosis_exit((int)r->worst);
}

enum ctl_exit ctl_replay(const struct ctl_args *a, FILE *out, FILE *err)
{
	struct replay r = {.args = a, .out = out, .err = err};
	bool is_stdin = strcmp(a->replay, "-") == 0;
	FILE *file = is_stdin ? stdin : fopen(a->replay, "re");
	struct err e = {0};
	enum ctl_exit exit_code = CTL_NO;

	if (file)
		exit_code = replay_file(&r, file, &e);
	else
		err_set(&e, -errno, "%s", strerror(errno));
	if (e.code) {
		fputs("rocectl: ", err);
		table_put(a->replay, err);
		fprintf(err, ": %s\n", e.msg);
	}
	diagnosis_free(r.diagnosis);
	scenario_free(r.scenario);
	if (file && !is_stdin)
		fclose(file);
	return exit_code;
}
