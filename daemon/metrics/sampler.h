/* sampler.h - takes a sample on its own timer, on a worker thread, has it judged there, and
 * publishes the page rendered from it.
 *
 * A scrape only ever sees a finished page. The loop's thread owns the inventory and the self
 * counters; the worker borrows the host and gets copies of the rest. */
#pragma once

#include <stdint.h>

#include "counters.h"
#include "err.h"
#include "inventory.h"
#include "page.h"
#include "resource_table.h"
#include "self_metrics.h"

struct diagnosis_report;
struct packet_view;
struct qp_ports;
struct settings_table;
struct thresholds;
struct uv_loop_s;
struct sampler;

struct sampler_opts {
	uint32_t interval_ms;
	struct counters_opts counters;
	/* Optional counters to switch on wherever a port has them; borrowed. */
	const char *const *optional;
	size_t n_optional;
	const struct thresholds *limits; /* of the diagnosis; copied. NULL: nothing is diagnosed */
};

struct sampler_hooks {
	/* Before each sample, on the loop's thread: fill in what the loop knows about the daemon.
	 */
	void (*describe)(struct self_metrics *, void *arg);
	/* Before each sample, on the loop's thread: what is offered to the kubelet, NULL = nothing;
	 * copied. May be NULL. */
	const struct resource_table *(*resources)(void *arg);
	/* Before each sample, on the loop's thread: what BPF programs count, NULL = nothing; put
	 * back after it. May be NULL. */
	struct packet_view *(*packets)(void *arg);
	/* Before each sample, on the loop's thread: the queue pairs of each port, NULL = nobody
	 * knows them; copied. May be NULL. */
	const struct qp_ports *(*queue_pairs)(void *arg);
	/* Before each sample, on the loop's thread: what ports are set to, NULL = nobody has read
	 * it; copied. May be NULL. */
	const struct settings_table *(*settings)(void *arg);
	/* Before each sample, on the loop's thread: is it to be told as a line of a scenario file?
	 * May be NULL: it is not. */
	bool (*wants_line)(void *arg);
	/* Before each sample, on the loop's thread: does anybody read the report's counters? May be
	 * NULL: nobody does. */
	bool (*wants_counters)(void *arg);
	/* After such a sample, if it was judged, on the loop's thread; borrowed. NULL: no memory.
	 */
	void (*line)(const char *, void *arg);
	/* After each sample that was judged, on the loop's thread, before `done`. The report is
	 * borrowed until the next one or the sampler's end. May be NULL. */
	void (*diagnosed)(const struct diagnosis_report *, void *arg);
	/* After each sample, on the loop's thread; the page is borrowed (page_ref() it to keep it).
	 */
	void (*done)(struct page *, void *arg);
	void *arg;
};

/* hw, inventory and self must outlive it. Samples are taken every interval from now on, and when
 * asked for. */
int sampler_open(struct sampler **ret, struct uv_loop_s *, const struct hw *, struct inventory *,
		 struct self_counters *self, const struct sampler_opts *,
		 const struct sampler_hooks *, struct err *);
/* A sample now instead of at the next tick; in a storm of changes as soon as the last one is as
 * long ago as it took. */
void sampler_wake(struct sampler *);
/* The inventory changed: devices that came or went and links are sampled at once, all else with the
 * next tick. */
void sampler_follow(struct sampler *);
/* What is diagnosed from the next sample on goes by these. */
void sampler_judge_by(struct sampler *, const struct thresholds *);
/* NULL is fine. A sample in flight is waited for; the struct is gone when the loop has run out of
 * handles. */
void sampler_close(struct sampler *);
