/* SPDX-License-Identifier: Apache-2.0 */
/* sampler.h - takes samples by a timer on a worker thread, which also judges them, and publishes
 * the page rendered from each while pages are requested.
 *
 * A scrape gets only finished pages. The loop's thread owns the inventory and the self counters;
 * the worker borrows the host and gets copies of the rest. */
#pragma once

#include <stdint.h>

#include "counters.h"
#include "err.h"
#include "inventory.h"
#include "page.h"
#include "resource_table.h"
#include "self_metrics.h"

struct diagnosis_report;
struct port_counters_set;
struct port_name;
struct packet_view;
struct qp_ports;
struct report_reader;
struct settings_table;
struct thresholds;
struct uv_loop_s;
struct sampler;

struct sampler_opts {
	uint32_t interval_ms;
	struct counters_opts counters;
	/* Optional counters to enable on every port that has them; borrowed. */
	const char *const *optional;
	size_t n_optional;
	const struct thresholds
		*limits; /* thresholds of the diagnosis; copied. NULL: no diagnosis */
	bool few_series; /* as in metrics_inputs */
};

struct sampler_hooks {
	/* Called before each sample, on the loop's thread, to fill in the daemon's own state. */
	void (*describe)(struct self_metrics *, void *arg);
	/* Called before each sample, on the loop's thread: returns the resource table, NULL = none;
	 * copied. May be NULL. */
	const struct resource_table *(*resources)(void *arg);
	/* Called before each sample, on the loop's thread: returns a view of BPF's packet counters,
	 * NULL = none; released by packet_view_put() after the sample. May be NULL. */
	struct packet_view *(*packets)(void *arg);
	/* Called before each sample, on the loop's thread: returns the queue pairs of each port,
	 * NULL = unknown; copied. May be NULL. */
	const struct qp_ports *(*queue_pairs)(void *arg);
	/* Called before each sample, on the loop's thread: returns the settings of ports, NULL =
	 * not read; copied. May be NULL. */
	const struct settings_table *(*settings)(void *arg);
	/* Called before each sample, on the loop's thread: returns whether a page is needed. NULL:
	 * always. */
	bool (*wants_page)(void *arg);
	/* Called before each sample, on the loop's thread: returns whether the sample is needed as
	 * a line of a scenario file. NULL: never. */
	bool (*wants_line)(void *arg);
	/* Called before each sample, on the loop's thread: returns whether the report's counters
	 * are needed. NULL: never. */
	bool (*wants_counters)(void *arg);
	/* Called before each sample, on the loop's thread: sets the ports of which every reading is
	 * needed, and returns their number, at most PORT_COUNTERS_MAX. NULL: none. */
	size_t (*wants_ports)(struct port_name *ret, void *arg);
	/* Called after each sample for which wants_ports() has set ports, on the loop's thread,
	 * with their readings; borrowed until it returns. */
	void (*ports_read)(const struct port_counters_set *, void *arg);
	/* Called on the loop's thread with the line of a sample for which wants_line() returned
	 * true, if the sample was judged; borrowed. NULL: out of memory. */
	void (*line)(const char *, void *arg);
	/* Called after each judged sample, on the loop's thread, before `done`. The report is
	 * borrowed until the next one or the sampler's end. May be NULL. */
	void (*diagnosed)(const struct diagnosis_report *, void *arg);
	/* Called after each sample, on the loop's thread, with the page; borrowed: keep it with
	 * page_ref(). NULL: no page was needed. */
	void (*done)(struct page *, void *arg);
	void *arg;
};

/* Creates a sampler that takes a sample every interval, and when woken. hw, inventory and self must
 * outlive it. */
int sampler_open(struct sampler **ret, struct uv_loop_s *, const struct hw *, struct inventory *,
		 struct self_counters *self, const struct sampler_opts *,
		 const struct sampler_hooks *, struct err *);
/* Takes a sample now, not at the next tick; but not before a pause as long as the last sample took,
 * because of storms of changes. */
void sampler_wake(struct sampler *);
/* Call it when the inventory has changed: takes a sample now if devices were added or removed or
 * links changed, otherwise at the next tick. */
void sampler_follow(struct sampler *);
/* Uses these thresholds from the next sample on. */
void sampler_judge_by(struct sampler *, const struct thresholds *);
/* Lets a reader read the last report on a worker; readers run one after the other. No sample starts
 * meanwhile, because the sample after the next one overwrites the report. Readers that still wait
 * when the sampler closes get no report. */
void sampler_read_report(struct sampler *, struct report_reader *);
/* May be NULL. Waits for a running sample; the struct is freed when the loop has no handles left.
 */
void sampler_close(struct sampler *);
