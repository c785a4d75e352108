// SPDX-License-Identifier: Apache-2.0
#include "ctl_record.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "client.h"
#include "ctl_table.h"
#include "ctl_trace.h"
#include "json_text.h"

/* Every double keeps 15 significant digits. */
#define JSON_STYLE (JSON_COMPACT | JSON_REAL_PRECISION(15))

struct recording {
	const struct ctl_args *args;
	FILE *file;
	json_t *ports;		 /* last written values, by "DEVICE/PORT" */
	double from_t, t;	 /* time of the first sample, and seconds from it to the last */
	struct ctl_trace *trace; /* NULL: no trace is written */
	unsigned n_samples;
	bool no_daemon; /* the daemon does not answer */
};

/* Requests a document. Returns 0 with *ret NULL if it is not available yet. */
static int record_request(struct recording *r, const char *path, json_t **ret, struct err *e)
{
	struct client_answer a = {0};
	/* The daemon defers the reply until the next sample. */
	int code = client_ask(&a, r->args->socket, path, NULL, ctl_args_long_wait_ms(r->args), e);
	json_t *document = code == 0 ? json_text_load(a.body, a.len, JSON_DECODE_ANY, NULL) : NULL;

	*ret = NULL;
	r->no_daemon = code < 0;
	if (code == 0 && (a.status != 200 || !document)) {
		const char *why = json_string_value(json_object_get(document, "error"));

		code = err_set(e, -EPROTO, "%s: %.200s", path, why ? why : a.body);
	}
	if (code == 0 && json_is_object(document))
		*ret = json_incref(document);
	json_decref(document);
	free(a.body);
	return code;
}

/* --- lines ------------------------------------------------------------------------------------ */

static int ctl_put_line(const struct recording *r, const json_t *line, struct err *e)
{
	if (line && json_dumpf(line, r->file, JSON_STYLE) == 0 && fputc('\n', r->file) != EOF &&
	    fflush(r->file) == 0)
		return 0;
	return line ? err_set(e, -EIO, "the recording could not be written completely")
		    : err_set(e, -ENOMEM, "out of memory");
}

/* The first line: thresholds of the diagnosis, and the wall-clock time of the first sample. */
static json_t *header_of(const json_t *config, const json_t *first)
{
	const json_t *wall = json_object_get(first, "wall");
	json_t *header = json_pack("{ss si sO* sO* sO*}", "scenario", "recorded", "version", 1,
				   "interval", json_object_get(config, "sample-interval"),
				   "expect_congestion_control",
				   json_object_get(config, "expect-congestion-control"),
				   "thresholds", json_object_get(config, "diagnosis"));

	if (header && wall)
		json_object_set_new(header, "start", json_real(json_number_value(wall)));
	return header;
}

/* Removes keys whose value is unchanged, because the scenario format keeps values until they
 * change; except keys that apply to a single sample. */
static json_t *without_known(const json_t *port, const json_t *before)
{
	json_t *brief = json_copy((json_t *)port), *v;
	const char *key;

	json_object_foreach ((json_t *)port, key, v) {
		bool is_name = strcmp(key, "device") == 0 || strcmp(key, "port") == 0;
		bool is_of_one = strcmp(key, "values") == 0 || strcmp(key, "visible") == 0;

		if (!is_name && !is_of_one && json_equal(v, json_object_get(before, key)))
			json_object_del(brief, key);
	}
	if (json_is_true(json_object_get(brief, "visible")))
		json_object_del(brief, "visible");
	return brief;
}

static void shorten_ports(const struct recording *r, json_t *line)
{
	json_t *ports = json_object_get(line, "ports"), *port;
	size_t i;

	json_array_foreach (ports, i, port) {
		const char *device = json_string_value(json_object_get(port, "device"));
		char name[128];
		json_t *brief;

		snprintf(name, sizeof(name), "%s/%lld", device ? device : "",
			 (long long)json_integer_value(json_object_get(port, "port")));
		brief = without_known(port, json_object_get(r->ports, name));
		json_object_set(r->ports, name, port);
		if (brief)
			json_array_set_new(ports, i, brief);
	}
}

static int put_sample(struct recording *r, json_t *line, struct err *e)
{
	double t = json_number_value(json_object_get(line, "t"));

	json_object_set_new(line, "t", json_real(t - r->from_t));
	shorten_ports(r, line);
	r->n_samples++;
	return ctl_put_line(r, line, e);
}

/* --- the recording ---------------------------------------------------------------------------- */

static int ctl_begin(struct recording *r, const json_t *first, struct err *e)
{
	json_t *config, *header;
	int code = record_request(r, "/api/v1/config", &config, e);

	if (code < 0)
		return code;
	header = header_of(config, first);
	r->from_t = json_number_value(json_object_get(first, "t"));
	code = ctl_put_line(r, header, e);
	json_decref(config);
	json_decref(header);
	return code;
}

static int record_sample(struct recording *r, json_t *line, struct err *e)
{
	int code = r->n_samples == 0 ? ctl_begin(r, line, e) : 0;

	if (code < 0)
		return code;
	r->t = json_number_value(json_object_get(line, "t")) - r->from_t;
	if (r->trace && ctl_trace_sample(r->trace, line, r->t) < 0)
		return err_set(e, -EIO, "the trace could not be written");
	return put_sample(r, line, e);
}

/* Records samples for the requested time. Each request waits for the daemon's next sample. */
static int record_all(struct recording *r, struct err *e)
{
	int code;

	do {
		json_t *line;

		code = record_request(r, "/api/v1/diagnosis/sample", &line, e);
		if (code == 0 && line)
			code = record_sample(r, line, e);
		json_decref(line);
	} while (code == 0 && r->t < (double)r->args->record);
	return code;
}

/* Adds the verdicts if the daemon still answers, and ends the trace. */
static void record_end_trace(struct recording *r, FILE *file, struct err *e)
{
	json_t *live = NULL;
	struct err none = {0};
	int code;

	if (e->code == 0)
		record_request(r, "/api/v1/live", &live, &none);
	code = ctl_trace_end(r->trace, live, r->from_t, r->t);
	json_decref(live);
	if ((fclose(file) != 0 || code < 0) && e->code == 0)
		err_set(e, -EIO, "%.120s: could not be written completely", r->args->trace);
}

static FILE *ctl_record_open_file(const char *path, struct err *e)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (!file)
		err_set(e, -errno, "%.120s: %s", path, strerror(errno));
	if (!file && fd >= 0)
		close(fd);
	return file;
}

static enum ctl_exit exit_of(const struct recording *r, const struct err *e, FILE *err)
{
	if (e->code == 0)
		return CTL_OK;
	fputs("rocectl: ", err);
	table_put(e->msg, err);
	fputc('\n', err);
	return r->no_daemon ? CTL_NO_DAEMON : CTL_NO;
}

enum ctl_exit ctl_record(const struct ctl_args *a, FILE *out, FILE *err)
{
	struct recording r = {.args = a, .file = out, .ports = json_object()};
	FILE *trace = NULL;
	struct err e = {0};

	if (a->write)
		r.file = ctl_record_open_file(a->write, &e);
	if (r.file && a->trace)
		trace = ctl_record_open_file(a->trace, &e);
	if (trace)
		r.trace = ctl_trace_begin(trace);
	if (trace && !r.trace)
		err_set(&e, -ENOMEM, "out of memory");
	if (e.code == 0)
		record_all(&r, &e);
	if (r.trace)
		record_end_trace(&r, trace, &e);
	if (r.file && r.file != out && fclose(r.file) != 0 && e.code == 0)
		err_set(&e, -EIO, "%.120s: could not be written completely", a->write);
	json_decref(r.ports);
	if (e.code == 0 && a->write)
		fprintf(err, "rocectl: %u samples\n", r.n_samples);
	return exit_of(&r, &e, err);
}
