// SPDX-License-Identifier: Apache-2.0
#include "ctl_trace.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define JSON_STYLE (JSON_COMPACT | JSON_REAL_PRECISION(9) | JSON_ENCODE_ANY)

struct ctl_trace {
	FILE *file;
	json_t *ports; /* "DEVICE/PORT": {"pid", "t", "values"} of its last sample */
	json_int_t n_verdicts;
	bool comma;
};

struct ctl_trace *ctl_trace_begin(FILE *file)
{
	struct ctl_trace *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->file = file;
	t->ports = json_object();
	fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", file);
	return t;
}

/* Writes the event and frees it. */
static int trace_put(struct ctl_trace *t, json_t *event)
{
	int r = event ? 0 : -ENOMEM;

	if (event) {
		fputs(t->comma ? ",\n" : "\n", t->file);
		t->comma = true;
		r = json_dumpf(event, t->file, JSON_STYLE) < 0 ? -EIO : 0;
	}
	json_decref(event);
	return r;
}

static void trace_port_name(const json_t *object, char *ret, size_t size)
{
	const char *device = json_string_value(json_object_get(object, "device"));

	snprintf(ret, size, "%s/%lld", device ? device : "",
		 (long long)json_integer_value(json_object_get(object, "port")));
}

/* Finds the port's entry, or adds it and writes its number and name to the trace. NULL: out of
 * memory. */
static json_t *trace_port(struct ctl_trace *t, const char *name)
{
	json_t *port = json_object_get(t->ports, name);
	json_int_t pid = (json_int_t)json_object_size(t->ports) + 1;

	if (port)
		return port;
	port = json_pack("{sI}", "pid", pid);
	if (json_object_set_new(t->ports, name, port) < 0)
		return NULL;
	if (trace_put(t, json_pack("{ss ss sI s{ss}}", "name", "process_name", "ph", "M", "pid",
				   pid, "args", "name", name)) < 0)
		return NULL;
	return port;
}

/* True if the name of the series, without its labels, ends in "_total". */
static bool trace_is_counter(const char *series)
{
	size_t len = strcspn(series, "{");

	return len > 6 && memcmp(series + len - 6, "_total", 6) == 0;
}

/* Returns a counter's rate since the previous sample, or a gauge's value. False if there is none:
 * not a number, no previous sample, or the counter was reset. */
static bool trace_value(const json_t *port, const char *series, const json_t *value, double t,
			double *ret)
{
	const json_t *before = json_object_get(json_object_get(port, "values"), series);
	double apart = t - json_number_value(json_object_get(port, "t"));

	*ret = json_number_value(value);
	if (!trace_is_counter(series))
		return json_is_number(value);
	if (!json_is_number(value) || !json_is_number(before) || apart <= 0)
		return false;
	*ret = (*ret - json_number_value(before)) / apart;
	return *ret >= 0;
}

static int trace_put_value(struct ctl_trace *t, const json_t *port, const char *series,
			   double value, double at)
{
	char name[200];

	snprintf(name, sizeof(name), "%.180s%s", series,
		 trace_is_counter(series) ? " per second" : "");
	return trace_put(t,
			 json_pack("{ss ss sf sO s{sf}}", "name", name, "ph", "C", "ts", at * 1e6,
				   "pid", json_object_get(port, "pid"), "args", "value", value));
}

static int trace_put_port(struct ctl_trace *t, const json_t *sample, double at)
{
	json_t *values = json_object_get(sample, "values"), *value, *port;
	const char *series;
	char name[160];
	int r = 0;

	trace_port_name(sample, name, sizeof(name));
	port = trace_port(t, name);
	if (!port)
		return -ENOMEM;
	json_object_foreach (values, series, value) {
		double number;

		if (r == 0 && trace_value(port, series, value, at, &number))
			r = trace_put_value(t, port, series, number, at);
	}
	json_object_set_new(port, "t", json_real(at));
	if (values)
		json_object_set(port, "values", values);
	return r;
}

int ctl_trace_sample(struct ctl_trace *t, const json_t *sample, double at)
{
	json_t *port;
	size_t i;
	int r = 0;

	json_array_foreach (json_object_get(sample, "ports"), i, port) {
		if (r == 0)
			r = trace_put_port(t, port, at);
	}
	return r;
}

/* --- verdicts --------------------------------------------------------------------------------- */

/* Adds a track with the cause's name; returns its number. */
static json_int_t trace_track(struct ctl_trace *t, const json_t *port, const char *cause)
{
	json_int_t tid = ++t->n_verdicts;

	trace_put(t, json_pack("{ss ss sO sI s{ss}}", "name", "thread_name", "ph", "M", "pid",
			       json_object_get(port, "pid"), "tid", tid, "args", "name", cause));
	return tid;
}

/* Writes a slice from the onset to the end. It does not begin before the first sample. Slices of a
 * track must not overlap, so each verdict has its own track. */
static int trace_put_verdict(struct ctl_trace *t, const json_t *v, double from_t, double end)
{
	double onset = (double)json_integer_value(json_object_get(v, "onsetMs")) / 1000 - from_t;
	const char *cause = json_string_value(json_object_get(v, "cause"));
	json_t *port, *args = json_object();
	static const char *const keys[] = {"severity", "sentence", "evidence", "pods", "advice"};
	char name[160];

	trace_port_name(v, name, sizeof(name));
	port = trace_port(t, name);
	onset = onset > 0 ? onset : 0;
	if (!port || !args || !cause || end <= onset) {
		json_decref(args);
		return port && args ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (json_object_get(v, keys[i]))
			json_object_set(args, keys[i], json_object_get(v, keys[i]));
	return trace_put(t, json_pack("{ss ss ss sf sf sO sI so}", "name", cause, "cat", "verdict",
				      "ph", "X", "ts", onset * 1e6, "dur", (end - onset) * 1e6,
				      "pid", json_object_get(port, "pid"), "tid",
				      trace_track(t, port, cause), "args", args));
}

static int trace_put_verdicts(struct ctl_trace *t, const json_t *live, double from_t, double end)
{
	json_t *verdict;
	size_t i;
	int r = 0;

	json_array_foreach (json_object_get(live, "verdicts"), i, verdict) {
		if (r == 0)
			r = trace_put_verdict(t, verdict, from_t, end);
	}
	json_array_foreach (json_object_get(live, "ended"), i, verdict) {
		json_int_t ended_ms = json_integer_value(json_object_get(verdict, "endedMs"));

		if (r == 0)
			r = trace_put_verdict(t, verdict, from_t, (double)ended_ms / 1000 - from_t);
	}
	return r;
}

int ctl_trace_end(struct ctl_trace *t, const json_t *live, double from_t, double at)
{
	int r = trace_put_verdicts(t, live, from_t, at);

	if (fputs("\n]}\n", t->file) == EOF || ferror(t->file))
		r = -EIO;
	json_decref(t->ports);
	free(t);
	return r;
}
