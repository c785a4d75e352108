// SPDX-License-Identifier: Apache-2.0
/* metrics.c - renders the page of one sample.
 *
 * A page consists of copies and numbers: the label text of a port changes only with the layout or
 * its holder, and the series of the host are copied from the previous page. Text shared by many
 * readings is stored once, and text that is in the last page is copied from there and not stored
 * again: with a thousand devices, all names and labels are as large as the page itself. */
#include "metrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "burst_series.h"
#include "diagnosis_series.h"
#include "dictionary.h"
#include "host_series.h"
#include "number.h"
#include "packet_series.h"
#include "resource_series.h"
#include "series_choice.h"

struct slice {
	size_t start, len;
};

/* Families that change with the host and the resources only. */
#define N_FIXED_FAMILIES (N_HOST_FAMILIES + N_RESOURCE_FAMILIES)

struct metrics {
	bool prepared;
	uint64_t layout, host_generation, resources_generation;
	struct text text;    /* labels of the ports */
	struct slice *ports; /* one per sampled port: its labels */
	struct series_choice choice;

	/* The page rendered last, and its parts that the next one may copy. */
	const struct page *page;
	struct slice fixed[N_FIXED_FAMILIES];
	size_t page_bytes; /* size estimate for the next page */
};

enum own_family { OWN_RESETS, OWN_SOURCE_UP, OWN_SOURCE_AGE, OWN_SOURCE_ERRORS, N_OWN_FAMILIES };

#define SOURCE_UP_MS 60000 /* the slowest source is read every 10 s */

static const struct family own[N_OWN_FAMILIES] = {
	[OWN_RESETS] = {"rocelet_counters_resets_total", "Detected resets of a port's counters.",
			METRIC_COUNTER},
	[OWN_SOURCE_UP] =
		{"rocelet_source_up",
		 "1 while the last successful read of a source of counters is at most "
		 "60 s old, else 0, also if it was never read; absent if no port uses it.",
		 METRIC_GAUGE},
	[OWN_SOURCE_AGE] = {"rocelet_source_age_seconds",
			    "Time since the last successful read of a source of counters.",
			    METRIC_GAUGE},
	[OWN_SOURCE_ERRORS] = {"rocelet_source_errors_total",
			       "Failed reads of a source of counters.", METRIC_COUNTER},
};

const struct family *metrics_family(size_t i)
{
	if (i < N_HOST_FAMILIES)
		return host_family(i);
	i -= N_HOST_FAMILIES;
	if (i < N_RESOURCE_FAMILIES)
		return resource_family(i);
	i -= N_RESOURCE_FAMILIES;
	if (i < N_OWN_FAMILIES)
		return &own[i];
	i -= N_OWN_FAMILIES;
	if (i < N_DIAGNOSIS_FAMILIES)
		return diagnosis_family(i);
	i -= N_DIAGNOSIS_FAMILIES;
	if (i < N_BURST_FAMILIES)
		return burst_family(i);
	return packet_family(i - N_BURST_FAMILIES);
}

struct metrics *metrics_new(void)
{
	return calloc(1, sizeof(struct metrics));
}

void metrics_free(struct metrics *m)
{
	if (!m)
		return;
	text_done(&m->text);
	free(m->ports);
	series_choice_done(&m->choice);
	free(m);
}

/* --- preparing -------------------------------------------------------------------------------- */

/* Returns the container that has an RDMA device exclusively, or NULL. */
static const struct pod_device *metrics_holder_of(const struct metrics_inputs *inputs,
						  const char *device)
{
	const struct rdma_dev *dev = inputs->resources ? host_rdma_sampled(inputs->host, device)
						       : NULL;

	return dev ? resource_table_holder(inputs->resources, dev->function, dev->name) : NULL;
}

static void prepare_ports(struct metrics *m, const struct sample *s,
			  const struct metrics_inputs *inputs)
{
	for (size_t i = 0; i < s->n_ports; i++) {
		const struct sampled_port *p = &s->ports[i];

		m->ports[i].start = m->text.len;
		text_add_port(&m->text, p->device, p->port, metrics_holder_of(inputs, p->device));
		m->ports[i].len = m->text.len - m->ports[i].start;
	}
}

static uint64_t metrics_generation_of(const struct resource_table *table)
{
	return table ? table->generation : 0;
}

static int metrics_prepare(struct metrics *m, const struct sample *s,
			   const struct metrics_inputs *inputs)
{
	m->prepared = false;
	text_done(&m->text);
	free(m->ports);
	m->ports = calloc(s->n_ports + 1, sizeof(*m->ports));
	if (!m->ports)
		return -ENOMEM;
	m->choice.few = inputs->few;
	if (series_choice_follow(&m->choice, s, inputs->host, inputs->resources) < 0)
		return -ENOMEM;
	prepare_ports(m, s, inputs);
	if (m->text.failed)
		return -ENOMEM;
	m->layout = s->layout;
	m->host_generation = inputs->host_generation;
	m->resources_generation = metrics_generation_of(inputs->resources);
	m->prepared = true;
	return 0;
}

/* --- rendering -------------------------------------------------------------------------------- */

static const char *type_of(const struct family *f)
{
	size_t n = strlen(f->name);

	if (f->type == METRIC_COUNTER)
		return "counter";
	if (f->type == METRIC_HISTOGRAM)
		return "histogram";
	return n > 5 && !strcmp(f->name + n - 5, "_info") ? "info" : "gauge";
}

static int metrics_begin_family(struct page *p, const struct family *f)
{
	return page_begin(p, f->name, type_of(f), f->help);
}

static void add_slice(struct page *p, const struct metrics *m, const struct slice *s)
{
	text_add(&p->text, m->text.data + s->start, s->len);
}

static const struct family *fixed_family(size_t i)
{
	return i < N_HOST_FAMILIES ? host_family(i) : resource_family(i - N_HOST_FAMILIES);
}

static void fixed_series(const struct metrics *m, struct text *t, size_t i, const struct sample *s,
			 const struct metrics_inputs *inputs)
{
	if (i < N_HOST_FAMILIES)
		host_series(t, i, inputs->host, s, inputs->resources, &m->choice);
	else if (inputs->resources)
		resource_series(t, i - N_HOST_FAMILIES, inputs->resources, inputs->few);
}

/* Renders the families of host and resources; last: the page to copy them from, NULL = render them
 * again. */
static int render_fixed(struct metrics *m, struct page *p, const struct page *last,
			const struct sample *s, const struct metrics_inputs *inputs)
{
	int r = 0;

	for (size_t i = 0; i < N_FIXED_FAMILIES && r == 0; i++) {
		struct slice *slice = &m->fixed[i];
		size_t start = p->text.len;

		r = metrics_begin_family(p, fixed_family(i));
		if (r == 0 && last)
			text_add(&p->text, last->text.data + slice->start, slice->len);
		else if (r == 0)
			fixed_series(m, &p->text, i, s, inputs);
		page_end(p);
		*slice = (struct slice){start, p->text.len - start};
	}
	return r;
}

static bool metrics_is_current(const struct metrics *m, const struct sample *s,
			       const struct metrics_inputs *inputs)
{
	return m->prepared && m->layout == s->layout &&
	       m->host_generation == inputs->host_generation &&
	       m->resources_generation == metrics_generation_of(inputs->resources) &&
	       series_choice_is_current(&m->choice, s);
}

/* Appends the sample of a reading; source: an additional label, "" = none. */
static void render_reading(const struct metrics *m, struct page *p, const struct reading *r,
			   const char *source)
{
	const struct slice *port = &m->ports[r->port];
	size_t name = strlen(r->family->name), labels = strlen(r->labels), more = strlen(source);
	char *start = text_reserve(&p->text, name + port->len + labels + more + NUMBER_MAX + 5);
	char *dst = start;

	if (!start)
		return;
	dst = mempcpy(dst, r->family->name, name);
	dst = mempcpy(dst, m->text.data + port->start, port->len);
	if (labels > 0)
		*dst++ = ',';
	dst = mempcpy(dst, r->labels, labels);
	if (more > 0)
		*dst++ = ',';
	dst = mempcpy(dst, source, more);
	dst = mempcpy(dst, "} ", 2);
	dst += number_reading(dst, r->value, r->unit);
	*dst++ = '\n';
	p->text.len += (size_t)(dst - start);
}

/* Rendering state of the families that BPF counts, too. */
struct shared {
	const struct packet_text *packets; /* NULL: BPF counts nothing */
	size_t open;   /* index of the family being rendered, SIZE_MAX = none of these */
	unsigned done; /* bits of the families already on the page */
};

static size_t shared_index(const struct family *f)
{
	const char *name;

	for (size_t i = 0; (name = packet_shared_name(i)); i++)
		if (strcmp(name, f->name) == 0)
			return i;
	return SIZE_MAX;
}

static int open_family(struct page *p, struct shared *s, const struct family *f)
{
	s->open = shared_index(f);
	return metrics_begin_family(p, f);
}

/* Ends a family: appends BPF's samples after those of the NICs. */
static void close_family(struct page *p, struct shared *s)
{
	if (s->open != SIZE_MAX) {
		s->done |= 1u << s->open;
		if (s->packets)
			packet_series_shared(&p->text, s->packets, s->open);
	}
	page_end(p);
}

/* True for families of node_exporter, which are published for every port, as node_exporter does. */
static bool is_compat(const struct family *f)
{
	return strncmp(f->name, "node_", 5) == 0;
}

static int render_readings(struct metrics *m, struct page *p, const struct sample *sample,
			   struct shared *s)
{
	const struct family *open = NULL;
	struct reading_pos pos = {0};
	bool compat = false, detail = false;
	struct reading r;

	while (sample_next(sample, &pos, &r)) {
		if (r.state != READING_OK)
			continue;
		if (!open || r.family != open) {
			if (open)
				close_family(p, s);
			open = r.family;
			compat = is_compat(open);
			detail = series_is_detail(open->name);
			if (open_family(p, s, open) < 0)
				return -ENOMEM;
		}
		if (compat || !series_choice_skips(&m->choice, r.port, detail))
			render_reading(m, p, &r, s->open == SIZE_MAX ? "" : PACKET_SOURCE_HW);
	}
	if (open)
		close_family(p, s);
	return 0;
}

/* Renders the shared families for which no NIC has readings. */
static int render_rest(struct page *p, struct shared *s)
{
	const struct family *f;
	int r = 0;

	for (size_t i = 0; (f = dict_family(i)) && r == 0; i++) {
		size_t k = shared_index(f);

		if (k == SIZE_MAX || s->done & 1u << k)
			continue;
		r = open_family(p, s, f);
		close_family(p, s);
	}
	return r;
}

static int render_counters(struct metrics *m, struct page *p, const struct sample *sample,
			   const struct metrics_inputs *inputs)
{
	struct shared s = {.open = SIZE_MAX};
	struct packet_text packets;
	int r;

	if (!inputs->packets)
		return render_readings(m, p, sample, &s);
	r = packet_text_init(&packets, inputs->packets, inputs->resources);
	s.packets = &packets;
	if (r == 0)
		r = render_readings(m, p, sample, &s);
	if (r == 0)
		r = render_rest(p, &s);
	if (r == 0)
		r = packet_series(p, &packets);
	packet_text_done(&packets);
	return r;
}

static int render_resets(struct metrics *m, struct page *p, const struct sample *s)
{
	const struct family *f = &own[OWN_RESETS];
	int r = metrics_begin_family(p, f);

	for (size_t i = 0; i < s->n_ports && r == 0; i++) {
		if (series_choice_skips(&m->choice, i, true))
			continue;
		text_addf(&p->text, "%s", f->name);
		add_slice(p, m, &m->ports[i]);
		text_addf(&p->text, "} %llu\n", (unsigned long long)s->ports[i].resets);
	}
	page_end(p);
	return r;
}

/* Gets the value of a source for this family. False: no value, because the source is unused, or has
 * no age because it was never read. Every source has a number of errors. */
static bool source_value(enum own_family f, const struct source_state *st, uint64_t now_ms,
			 uint64_t *ret)
{
	if (f == OWN_SOURCE_ERRORS) {
		*ret = st->errors;
		return true;
	}
	*ret = now_ms > st->read_ms ? now_ms - st->read_ms : 0;
	if (f == OWN_SOURCE_UP) {
		*ret = st->read_ms && *ret <= SOURCE_UP_MS;
		return st->used;
	}
	return st->used && st->read_ms;
}

static int render_sources(struct page *p, const struct sample *s, enum own_family f,
			  uint64_t now_ms)
{
	int r = metrics_begin_family(p, &own[f]);

	for (enum source i = 0; i < N_SOURCES && r == 0; i++) {
		char number[NUMBER_MAX];
		uint64_t v;

		if (!source_value(f, &s->sources[i], now_ms, &v))
			continue;
		text_addf(&p->text, "%s{source=\"%s\"} %.*s\n", own[f].name, source_name(i),
			  (int)number_decimal(number, v, f == OWN_SOURCE_AGE ? 3 : 0), number);
	}
	page_end(p);
	return r;
}

static int render_bursts(const struct metrics *m, struct page *p, const struct sample *s,
			 struct bursts *bursts, enum burst_family f, uint64_t now_ms)
{
	int r = metrics_begin_family(p, burst_family(f));

	for (size_t i = 0; i < s->n_ports && r == 0; i++) {
		const struct burst_windows *windows = bursts_windows(bursts, i, now_ms);

		if (windows)
			burst_series(&p->text, f, m->text.data + m->ports[i].start, m->ports[i].len,
				     windows);
	}
	page_end(p);
	return r;
}

/* Finds the port in the report; NULL: it is not watched. The search begins at *next, because the
 * report's ports usually have the order of the sample's. */
static const struct port_watched *metrics_watched(const struct diagnosis_report *r,
						  const struct sampled_port *p, size_t *next)
{
	for (size_t i = 0; i < r->n_ports; i++) {
		size_t at = (*next + i) % r->n_ports;
		const struct port_watched *w = &r->ports[at];

		if (w->port != p->port || strcmp(w->device, p->device) != 0)
			continue;
		*next = at + 1;
		return w;
	}
	return NULL;
}

static int render_port_causes(const struct metrics *m, struct page *p, const struct sample *s,
			      const struct diagnosis_report *report)
{
	int r = metrics_begin_family(p, diagnosis_family(DIAGNOSIS_PORT_CAUSES));
	size_t next = 0;

	for (size_t i = 0; i < s->n_ports && r == 0; i++) {
		const struct port_watched *w =
			s->ports[i].port && !series_choice_skips(&m->choice, i, false)
				? metrics_watched(report, &s->ports[i], &next)
				: NULL;

		if (w)
			diagnosis_port_series(&p->text, m->text.data + m->ports[i].start,
					      m->ports[i].len, w);
	}
	page_end(p);
	return r;
}

int metrics_render(struct metrics *m, struct page *p, const struct sample *s,
		   const struct metrics_inputs *inputs, uint64_t now_ms)
{
	bool current = metrics_is_current(m, s, inputs);
	const struct page *last = current && inputs->last == m->page ? inputs->last : NULL;
	int r = current ? 0 : metrics_prepare(m, s, inputs);

	m->page = NULL;
	if (r == 0 && !text_reserve(&p->text, m->page_bytes))
		r = -ENOMEM;
	if (r == 0)
		r = render_fixed(m, p, last, s, inputs);
	if (r == 0)
		r = render_counters(m, p, s, inputs);
	if (r == 0)
		r = render_resets(m, p, s);
	for (enum own_family f = OWN_SOURCE_UP; f <= OWN_SOURCE_ERRORS && r == 0; f++)
		r = render_sources(p, s, f, now_ms);
	if (r == 0 && inputs->diagnosis)
		r = diagnosis_series(p, inputs->diagnosis, inputs->resources, inputs->host);
	if (r == 0 && inputs->diagnosis)
		r = render_port_causes(m, p, s, inputs->diagnosis);
	for (enum burst_family f = 0; f < N_BURST_FAMILIES && r == 0 && inputs->bursts; f++)
		r = render_bursts(m, p, s, inputs->bursts, f, now_ms);
	if (r == 0 && p->text.failed)
		r = -ENOMEM;
	m->page_bytes = p->text.len;
	m->page = r == 0 ? p : NULL;
	return r;
}
