// SPDX-License-Identifier: Apache-2.0
/* counters.c - builds the layout, then samples it.
 *
 * Success of a sample: files, netlink and ethtool fill the cells of the slots; the layout widens
 * them, counts resets and builds sums; the sample points to the result. A failed read makes only
 * its own readings absent and counts as an error of its source. If the counters of a source have
 * changed, the layout is rebuilt. A change of the files is detected without reading them, so the
 * layout is rebuilt before they are read; for other sources, before the next sample. */
#include "counters.h"

#include <errno.h>
#include <stdlib.h>

#include "counters_setup.h"
#include "fnv.h"

/* Interval of the slow sources. */
#define SLOW_MS 10000

struct counters {
	const struct hw *hw;
	struct counters_opts opts;
	struct setup setup;
	struct source_state sources[N_SOURCES]; /* errors and read_ms, since start */
	uint64_t layout;
	uint64_t digest;  /* digest of the hardware in the layout */
	uint64_t slow_ms; /* time of the last read of the slow sources */
	bool slow_asked;  /* the slow sources were read since the layout was built */
	bool stale;
	struct sample sample;
};

struct counters *counters_new(const struct hw *hw, const struct counters_opts *opts)
{
	struct counters *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->hw = hw;
	c->opts = *opts;
	setup_init(&c->setup);
	return c;
}

void counters_free(struct counters *c)
{
	if (!c)
		return;
	setup_done(&c->setup);
	free(c);
}

/* --- layout ----------------------------------------------------------------------------------- */

/* Marks the sources that the layout reads, for the age and error series. */
static void note_sources(struct counters *c)
{
	for (size_t i = 0; i < N_SOURCES; i++)
		c->sources[i].used = false;
	for (size_t i = 0; i < c->setup.layout.n_shapes; i++) {
		const struct shape *s = &c->setup.layout.shapes[i];

		for (size_t k = 0; k < s->n_slots; k++)
			if (!s->slots[k].constant)
				c->sources[s->slots[k].source].used = true;
	}
}

static int make_setup(struct counters *c, const struct host *host, struct setup *ret)
{
	struct plan plan;
	int r = plan_make(&plan, host);

	if (r == 0)
		r = setup_make(ret, c->hw, &c->opts, &plan);
	plan_done(&plan);
	return r;
}

/* Builds a new setup and replaces the old one. Closes the old files before opening the new ones:
 * there may not be enough descriptors for both. */
static int counters_lay_out(struct counters *c, const struct host *host, bool files_changed)
{
	struct setup s;
	size_t lost;
	int r;

	setup_init(&s);
	r = make_setup(c, host, &s);
	if (r < 0) {
		setup_done(&s);
		return r;
	}
	lost = layout_inherit(&s.layout, &c->setup.layout, SOURCE_SYSFS);
	if (files_changed)
		c->sources[SOURCE_SYSFS].errors += lost;
	for (size_t i = 0; i < N_SOURCES; i++)
		c->sources[i].errors += s.unlisted[i];
	setup_done(&c->setup);
	c->setup = s;
	statfiles_open(&c->setup.files, &c->setup.layout);
	c->layout++;
	c->stale = c->slow_asked = false;
	note_sources(c);
	return 0;
}

static void fill_sample(struct counters *c, uint64_t now_ms)
{
	struct layout *l = &c->setup.layout;

	c->sample = (struct sample){
		.ports = l->ports,
		.n_ports = l->n_ports,
		.next = layout_next,
		.readings = l,
		.n_readings = l->n_readings,
		.layout = c->layout,
		.taken_ms = now_ms,
	};
	memcpy(c->sample.sources, c->sources, sizeof(c->sources));
}

/* Returns a digest of everything that a layout depends on. The state of a port is included only if
 * node_exporter's names are enabled. */
static uint64_t counters_digest_of(const struct counters *c, const struct host *host,
				   const struct plan *p)
{
	uint64_t h = FNV1A_START;

	for (size_t i = 0; i < host->n_rdma; i++)
		h = fnv1a(h, &host->rdma[i].index, sizeof(host->rdma[i].index));
	for (size_t i = 0; i < p->n; i++) {
		struct plan_port port = p->ports[i];

		if (!c->opts.compat) {
			port.state = PORT_UNKNOWN;
			port.phys_state = PHYS_UNKNOWN;
			port.rate_bps = 0;
		}
		h = fnv1a(h, &port, sizeof(port));
	}
	return h;
}

/* True if the current layout is valid for this host. Most changes of a host do not affect counters,
 * and a rebuild reopens thousands of files. */
static bool is_laid_out(struct counters *c, const struct host *host)
{
	struct plan plan;
	uint64_t digest;

	if (plan_make(&plan, host) < 0)
		return false;
	digest = counters_digest_of(c, host, &plan);
	plan_done(&plan);
	if (c->layout > 0 && digest == c->digest && !c->stale)
		return true;
	c->digest = digest;
	return false;
}

int counters_layout(struct counters *c, const struct host *host)
{
	int r = is_laid_out(c, host) ? 1 : counters_lay_out(c, host, false);

	if (r < 0)
		c->digest = 0; /* the next call retries: the new hardware is not in the layout */
	if (r != 0)
		return r < 0 ? r : 0;
	/* The arrays of the last sample are freed: point to the new layout, without values until
	 * the next sample. */
	fill_sample(c, c->sample.taken_ms);
	return 0;
}

static void refresh_layout(struct counters *c, const struct host *host)
{
	bool files = statfiles_stale(&c->setup.files);

	/* On -ENOMEM the old layout stays in use, and the next call retries. */
	if (files || c->stale)
		counters_lay_out(c, host, files);
}

/* --- sampling --------------------------------------------------------------------------------- */

/* Updates the errors and the age of a source after a number of reads. A source without reads keeps
 * its age. */
static void note_read(struct counters *c, enum source source, size_t asked, size_t failed,
		      uint64_t now_ms)
{
	c->sources[source].errors += failed;
	if (failed < asked)
		c->sources[source].read_ms = now_ms;
}

static void read_polls(struct counters *c, uint64_t now_ms)
{
	bool slow = !c->slow_asked || now_ms - c->slow_ms >= SLOW_MS;

	for (enum nlpoll_kind kind = 0; kind < N_POLL_KINDS; kind++) {
		struct nlpoll *p = &c->setup.polls;

		if (slow || !nlpoll_is_slow(kind))
			note_read(c, nlpoll_source(kind), p->groups[kind].n,
				  nlpoll_read(p, kind, &c->setup.layout, &c->stale), now_ms);
	}
	if (slow) {
		c->slow_asked = true;
		c->slow_ms = now_ms;
	}
}

const struct sample *counters_read(struct counters *c, const struct host *host, uint64_t now_ms)
{
	struct layout *l = &c->setup.layout;

	refresh_layout(c, host);
	note_read(c, SOURCE_SYSFS, c->setup.files.n_files, statfiles_read(&c->setup.files, l),
		  now_ms);
	note_read(c, SOURCE_ETHTOOL, c->setup.nics.n, nicstats_read(&c->setup.nics, l, &c->stale),
		  now_ms);
	read_polls(c, now_ms);
	layout_evaluate(l);
	fill_sample(c, now_ms);
	return &c->sample;
}

int counters_read_port(struct counters *c, size_t port)
{
	struct setup *s = &c->setup;
	struct layout *l = &s->layout;
	struct cells cells;
	size_t asked = 0;

	if (port >= l->n_ports || c->stale)
		return -ESTALE;
	cells = layout_port_cells(l, port);
	c->sources[SOURCE_SYSFS].errors += statfiles_read_cells(&s->files, l, &cells, &asked);
	c->sources[SOURCE_ETHTOOL].errors += nicstats_read_cells(&s->nics, l, &cells, &asked,
								 &c->stale);
	for (enum nlpoll_kind kind = 0; kind < N_POLL_KINDS; kind++)
		if (!nlpoll_is_slow(kind))
			c->sources[nlpoll_source(kind)].errors += nlpoll_read_cells(
				&s->polls, kind, l, &cells, &asked, &c->stale);
	layout_evaluate_port(l, port);
	return c->stale ? -ESTALE : (int)asked;
}
