// SPDX-License-Identifier: Apache-2.0
#include "api_ports.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diagnosis_report.h"
#include "host_index.h"
#include "utc_text.h"
#include "vf_bytes.h"

void api_add_time(struct json_out *o, const struct diagnosis_report *r)
{
	char time[UTC_TEXT_SIZE];

	utc_text(r->unix_ms, time);
	json_out_text(o, "time", time);
	json_out_number(o, "timeMs", r->now_ms);
}

char *api_text(struct json_out *o, size_t *ret_len)
{
	text_add(&o->text, "", 1); /* terminator */
	if (o->text.failed) {
		text_done(&o->text);
		return NULL;
	}
	*ret_len = o->text.len - 1;
	return o->text.data;
}

/* --- ports ------------------------------------------------------------------------------------ */

struct ports_input {
	const struct condition_sources *sources;
	const struct host *host;
	struct host_index index;
	size_t next; /* index into the host's RDMA devices; both lists are mostly in the same order
		      */
};

/* As host_rdma_sampled(); NULL if the device was removed after the report was made. */
static const struct rdma_dev *api_find_device(struct ports_input *s, const char *name)
{
	for (size_t i = 0; i < s->host->n_rdma; i++) {
		size_t at = (s->next + i) % s->host->n_rdma;

		if (s->host->rdma[at].nsid != NSID_HOST ||
		    strcmp(s->host->rdma[at].name, name) != 0)
			continue;
		s->next = at;
		return &s->host->rdma[at];
	}
	return host_rdma(s->host, name);
}

static const struct rdma_port *api_find_port(const struct rdma_dev *dev, uint32_t number)
{
	for (unsigned i = 0; dev && i < dev->n_ports; i++)
		if (dev->ports[i].num == number)
			return &dev->ports[i];
	return NULL;
}

static void api_add_function(struct json_out *o, const struct port_row *row)
{
	const struct function *fn = row->fn;

	json_out_text(o, "function", fn ? fn->id : "");
	json_out_text(o, "kind", fn ? fn_kind_name(fn->kind) : "");
	json_out_text(o, "parent", fn && !row->own ? fn->parent : "");
	json_out_known(o, "vf", fn && fn->vf >= 0, fn && fn->vf >= 0 ? (uint64_t)fn->vf : 0);
	json_out_text(o, "driver", row->dev ? row->dev->driver : "");
}

/* Adds whether the PF's byte counters include those of its VFs; null: unknown, or not a PF. */
static void api_add_vf_bytes(struct json_out *o, const struct port_row *row, const char *source)
{
	const bool is_pf = row->dev && row->fn && row->fn->kind == FN_PF;
	enum vf_bytes bytes = is_pf ? vf_bytes_of(row->dev->driver, source) : VF_BYTES_UNKNOWN;

	if (bytes == VF_BYTES_UNKNOWN)
		json_out_null(o, "bytesIncludeVfs");
	else
		json_out_bool(o, "bytesIncludeVfs", bytes == VF_BYTES_CONTAINED);
}

static void api_add_link(struct json_out *o, const struct rdma_port *port,
			 const struct port_watched *watched)
{
	/* The kernel's value is readable only by a process that may open the device. */
	const unsigned mtu = port && port->active_mtu ? port->active_mtu : watched->mtu;

	json_out_text(o, "state", port ? port_state_name(port->state) : "");
	json_out_text(o, "linkLayer", port ? link_layer_name(port->link_layer) : "");
	json_out_known(o, "rateBitsPerSecond", port && port->rate_bps, port ? port->rate_bps : 0);
	json_out_known(o, "activeMtu", mtu > 0, mtu);
}

static void add_holder(struct json_out *o, const struct pod_device *holder)
{
	json_out_text(o, "namespace", holder ? holder->namespace : "");
	json_out_text(o, "pod", holder ? holder->pod : "");
	json_out_text(o, "container", holder ? holder->container : "");
}

static void add_now(struct json_out *o, const struct diagnosis_report *r, size_t port)
{
	json_out_open(o, "now", '{');
	for (int i = 0; i < N_SIGNALS; i++)
		json_out_real(o, signal_word((enum signal)i),
			      diagnosis_report_rows(r)
				      ? diagnosis_report_signal(r, port, (enum signal)i, 0)
				      : (double)NAN);
	json_out_close(o, '}');
}

/* Writes the name of a series with its labels, whose quotes are escaped for JSON. */
static void counter_key(enum series s, char ret[2 * SERIES_NAME_SIZE])
{
	char name[SERIES_NAME_SIZE];

	series_full_name(s, name);
	for (const char *c = name; *c; c++) {
		if (*c == '"')
			*ret++ = '\\';
		*ret++ = *c;
	}
	*ret = '\0';
}

/* Adds the counters that have a value; gauges are left out. */
static void api_add_counters(struct json_out *o, const double *value)
{
	char key[2 * SERIES_NAME_SIZE];

	if (!value) {
		json_out_null(o, "counters");
		return;
	}
	json_out_open(o, "counters", '{');
	for (int i = 0; i < N_SERIES; i++) {
		if (isnan(value[i]) || series_kind(i) == SERIES_GAUGE)
			continue;
		counter_key((enum series)i, key);
		json_out_counter(o, key, value[i]);
	}
	json_out_close(o, '}');
}

static void api_add_condition(struct json_out *o, const struct condition *c)
{
	const char *health = c ? condition_health(c) : NULL;

	if (!c)
		return;
	json_out_text(o, "health", health ? health : "");
	json_out_value(o, "troubles", condition_troubles(c));
}

void api_add_port(struct json_out *o, const struct diagnosis_report *r, const struct port_row *row)
{
	const struct port_watched *watched = &r->ports[row->at];
	const struct rdma_port *port = api_find_port(row->dev, watched->port);

	json_out_open(o, NULL, '{');
	json_out_text(o, "device", watched->device);
	json_out_number(o, "port", watched->port);
	json_out_text(o, "netdev", port ? port->netdev : "");
	api_add_function(o, row);
	api_add_link(o, port, watched);
	api_add_vf_bytes(o, row, watched->bytes_source);
	json_out_text(o, "watch", port_watch_name(watched->watch));
	json_out_known(o, "watchedSinceMs", watched->watched_ms > 0, watched->watched_ms);
	json_out_known(o, "clearSinceMs", watched->clear_ms > 0, watched->clear_ms);
	json_out_number(o, "resets", watched->resets);
	json_out_number(o, "ignoredRates", watched->ignored);
	add_holder(o, row->holder);
	api_add_condition(o, row->condition);
	add_now(o, r, row->at);
	if (row->own)
		api_add_counters(o, diagnosis_report_counters(r, row->at));
	json_out_close(o, '}');
}

static void api_add_row(struct json_out *o, struct ports_input *s, const struct api_filter *filter,
			size_t at)
{
	const struct port_watched *port = &s->sources->report->ports[at];
	struct port_row row = {.at = at, .dev = api_find_device(s, port->device)};
	struct condition condition;

	if (row.dev) {
		row.fn = host_index_function(&s->index, rdma_function_id(row.dev));
		if (s->sources->resources)
			row.holder = resource_table_holder(s->sources->resources->table,
							   row.dev->function, row.dev->name);
	}
	if (!api_filter_device(filter, row.fn ? row.fn->id : "") ||
	    !(api_filter_has_no_pod(filter) ||
	      (row.holder && api_filter_pod(filter, row.holder->namespace, row.holder->pod))))
		return;
	condition_of_port(&condition, s->sources, port->device, port->port, row.fn, row.holder);
	row.condition = &condition;
	api_add_port(o, s->sources->report, &row);
}

char *api_ports(const struct condition_sources *sources, const struct api_filter *filter,
		size_t *ret_len)
{
	const struct diagnosis_report *r = sources->report;
	struct ports_input s = {.sources = sources, .host = sources->host};
	struct json_out o = {0};

	if (host_index_init(&s.index, sources->host) < 0)
		return NULL;
	json_out_open(&o, NULL, '{');
	api_add_time(&o, r);
	json_out_number(&o, "warmingMs", r->warming_ms);
	json_out_open(&o, "ports", '[');
	for (size_t i = 0; i < r->n_ports; i++)
		api_add_row(&o, &s, filter, i);
	json_out_close(&o, ']');
	json_out_close(&o, '}');
	host_index_done(&s.index);
	return api_text(&o, ret_len);
}

/* --- history of one port ---------------------------------------------------------------------- */

size_t api_port_find(const struct diagnosis_report *r, const char *name)
{
	const char *slash = strrchr(name, '/');
	unsigned long number;
	char *end;

	if (!slash || slash[1] < '0' || slash[1] > '9')
		return SIZE_MAX;
	number = strtoul(slash + 1, &end, 10);
	for (size_t i = 0; *end == '\0' && i < r->n_ports; i++)
		if (r->ports[i].port == number &&
		    strlen(r->ports[i].device) == (size_t)(slash - name) &&
		    strncmp(r->ports[i].device, name, (size_t)(slash - name)) == 0)
			return i;
	return SIZE_MAX;
}

/* Number of rows after since_ms. */
static unsigned rows_after(const struct diagnosis_report *r, uint64_t since_ms)
{
	unsigned n = 0;

	while (n < diagnosis_report_rows(r) && diagnosis_report_row_ms(r, n) > since_ms)
		n++;
	return n;
}

static void add_signal(struct json_out *o, const struct diagnosis_report *r, size_t port,
		       enum signal signal, unsigned n)
{
	json_out_open(o, signal_word(signal), '[');
	for (unsigned back = n; back-- > 0;)
		json_out_real(o, NULL, diagnosis_report_signal(r, port, signal, back));
	json_out_close(o, ']');
}

char *api_history(const struct diagnosis_report *r, size_t port, uint64_t since_ms, size_t *ret_len)
{
	unsigned n = rows_after(r, since_ms);
	struct json_out o = {0};

	json_out_open(&o, NULL, '{');
	api_add_time(&o, r);
	json_out_text(&o, "device", r->ports[port].device);
	json_out_number(&o, "port", r->ports[port].port);
	json_out_open(&o, "atMs", '[');
	for (unsigned back = n; back-- > 0;)
		json_out_number(&o, NULL, diagnosis_report_row_ms(r, back));
	json_out_close(&o, ']');
	json_out_open(&o, "signals", '{');
	for (int i = 0; i < N_SIGNALS; i++)
		add_signal(&o, r, port, (enum signal)i, n);
	json_out_close(&o, '}');
	json_out_close(&o, '}');
	return api_text(&o, ret_len);
}

/* --- history of all ports --------------------------------------------------------------------- */

/* The rows of one step: [newest, newest + n), counted back from the newest row. */
struct rows {
	unsigned newest, n;
};

static double rows_mean(const struct diagnosis_report *r, size_t port, enum signal signal,
			struct rows rows)
{
	double sum = 0;
	unsigned seen = 0;

	for (unsigned i = 0; i < rows.n; i++) {
		double v = diagnosis_report_signal(r, port, signal, rows.newest + i);

		if (isnan(v))
			continue;
		sum += v;
		seen++;
	}
	return seen ? sum / seen : (double)NAN;
}

/* Groups the rows into steps, the newest step first. Steps begin at multiples of their length, so
 * that the steps of successive documents have the same boundaries. */
static unsigned make_steps(const struct diagnosis_report *r, uint64_t every_ms,
			   struct rows steps[HISTORY_STEPS_MAX])
{
	unsigned n = 0, rows = diagnosis_report_rows(r);
	uint64_t last = 0;

	for (unsigned i = 0; i < rows; i++) {
		uint64_t step = diagnosis_report_row_ms(r, i) / every_ms;

		if (n > 0 && step == last) {
			steps[n - 1].n++;
			continue;
		}
		if (n == HISTORY_STEPS_MAX)
			break;
		steps[n++] = (struct rows){i, 1};
		last = step;
	}
	return n;
}

static bool is_same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* Writes one number in place of a list if all steps have the same value. */
static void api_add_steps(struct json_out *o, const char *word, const double *means, unsigned n)
{
	unsigned i = 1;

	while (i < n && is_same(means[i], means[0]))
		i++;
	if (i >= n) {
		json_out_real(o, word, n ? means[0] : (double)NAN);
		return;
	}
	json_out_open(o, word, '[');
	for (i = n; i-- > 0;)
		json_out_real(o, NULL, means[i]);
	json_out_close(o, ']');
}

static void api_add_port_steps(struct json_out *o, const struct diagnosis_report *r, size_t port,
			       const struct history_query *q, const struct rows *steps, unsigned n)
{
	const bool is_still = n > 0 && diagnosis_report_is_still(r, port);
	double means[HISTORY_STEPS_MAX];

	/* All rows of a port without changes have the same values, so one step is enough. Most of a
	 * thousand VFs are like this. */
	if (is_still)
		n = 1;
	json_out_open(o, NULL, '{');
	json_out_text(o, "device", r->ports[port].device);
	json_out_number(o, "port", r->ports[port].port);
	json_out_open(o, "signals", '{');
	for (int s = 0; s < N_SIGNALS; s++) {
		if (!(q->signals & 1u << s))
			continue;
		for (unsigned i = 0; i < n; i++)
			means[i] = rows_mean(r, port, (enum signal)s, steps[i]);
		api_add_steps(o, signal_word((enum signal)s), means, n);
	}
	json_out_close(o, '}');
	json_out_close(o, '}');
}

char *api_histories(const struct diagnosis_report *r, const struct history_query *q,
		    size_t *ret_len)
{
	struct rows steps[HISTORY_STEPS_MAX];
	unsigned n = make_steps(r, q->every_ms, steps);
	struct json_out o = {0};

	json_out_open(&o, NULL, '{');
	api_add_time(&o, r);
	json_out_number(&o, "stepMs", q->every_ms);
	json_out_open(&o, "atMs", '[');
	for (unsigned i = n; i-- > 0;)
		json_out_number(&o, NULL,
				diagnosis_report_row_ms(r, steps[i].newest) / q->every_ms *
					q->every_ms);
	json_out_close(&o, ']');
	json_out_open(&o, "ports", '[');
	for (size_t i = 0; i < r->n_ports; i++)
		api_add_port_steps(&o, r, i, q, steps, n);
	json_out_close(&o, ']');
	json_out_close(&o, '}');
	return api_text(&o, ret_len);
}
