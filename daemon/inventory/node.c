// SPDX-License-Identifier: Apache-2.0
/* node.c - see node.h.
 *
 * Success: hint -> settle timer -> rescan on a worker -> apply -> call the hook if anything
 * changed. Failures: parts of a rescan fail (logged once per source, and again on recovery; the
 * inventory keeps its last values); an event storm (rescans use credit that accrues with time, so
 * in the long run each kind uses at most half a core). */
#include "node.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "job.h"
#include "log.h"
#include "timer.h"

/* The kernel creates GIDs on a work queue, after the event that causes them (ib_core's
 * roce_gid_mgmt.c). */
#define DETAILS_SETTLE_MS 100
#define RETRY_MS	  1000
/* Maximum credit: for this long, a burst of events causes immediate rescans. In a lasting storm,
 * rescans of a kind run at most half of the time. */
#define CREDIT_MAX_MS	  200
/* Delay from a rescan until the heap is trimmed. */
#define TRIM_MS		  500

/* One kind of rescan; embedded in the node. */
struct rescanner {
	struct node *node;
	enum rescan kind;
	struct timer settle;
	struct job work;
	bool done_once;
	unsigned wanted; /* parts hinted since the last rescan began; RESCAN_DETAILS: any bit */
	uint64_t us, began_ms, ended_ms;
	int64_t credit_ms; /* at the time ended_ms; while it is negative, the next rescan has to
			    * wait */
	int logged[N_SCAN_SOURCES]; /* problem codes last logged */

	/* Owned by the worker while it runs. */
	unsigned parts; /* being scanned */
	uint64_t took_us;
	struct scan scan; /* RESCAN_DETAILS: scan.host has the devices to read */
};

struct node {
	struct uv_loop_s *loop;
	const struct hw *hw;
	struct self_counters *self;
	struct node_opts opts;
	node_changed_fn *changed;
	void *arg;
	struct inventory inventory;
	struct rescanner rescanners[N_RESCANS];
	struct timer rescan, trim;
	unsigned open_handles;
	bool closing, complete, moving;
};

static const unsigned parts_of[N_RESCANS] = {
	[RESCAN_FUNCTIONS] = SCAN_FUNCTIONS,
	[RESCAN_DEVICES] = SCAN_NETDEVS | SCAN_RDMA,
	[RESCAN_REPORTS] = SCAN_REPORTS,
};

static const char *const rescan_names[N_RESCANS] = {
	[RESCAN_FUNCTIONS] = "functions",
	[RESCAN_DEVICES] = "devices",
	[RESCAN_DETAILS] = "details",
	[RESCAN_REPORTS] = "reports",
};

struct inventory *node_inventory(struct node *n)
{
	return &n->inventory;
}

bool node_knows_devices(const struct node *n)
{
	return n->rescanners[RESCAN_FUNCTIONS].done_once && n->rescanners[RESCAN_DEVICES].done_once;
}

bool node_complete(const struct node *n)
{
	return n->complete;
}

uint64_t node_rescan_us(const struct node *n, enum rescan kind)
{
	return n->rescanners[kind].us;
}

static void node_release_if_done(struct node *n)
{
	for (int i = 0; i < N_RESCANS; i++)
		if (n->rescanners[i].work.running)
			return;
	if (n->open_handles > 0)
		return;
	inventory_done(&n->inventory);
	free(n);
}

/* Trims the heap. A rescan frees thousands of small blocks, which fragments the heap. Trimming and
 * growing the heap again need time. So the heap is not trimmed after every rescan of a storm, or
 * while work that follows a rescan is pending. */
static void on_trim(void *arg)
{
	(void)arg;
	malloc_trim(0);
}

/* --- one rescan ------------------------------------------------------------------------------- */

static void rescan_on_worker(void *arg)
{
	struct rescanner *l = arg;
	uint64_t start = uv_hrtime();

	if (l->kind == RESCAN_DETAILS)
		hw_read_details(l->node->hw, &l->scan.host, l->scan.problem);
	else
		hw_scan(l->node->hw, l->parts, &l->scan);
	l->took_us = (uv_hrtime() - start) / 1000;
}

/* Logs a lasting problem once. A rescan of fewer parts than its kind covers does not report
 * problems of the other parts. */
static void inventory_node_report_problems(struct rescanner *l)
{
	for (int i = 0; i < N_SCAN_SOURCES; i++) {
		const struct err *e = &l->scan.problem[i];

		if (e->code == l->logged[i] || (e->code == 0 && l->parts != parts_of[l->kind]))
			continue;
		if (e->code != 0)
			log_warn("node", 0, "%s: %s, going on without it", scan_source_name(i),
				 e->msg);
		else
			log_info("node", 0, "%s: works again", scan_source_name(i));
		l->logged[i] = e->code;
	}
}

/* True if every rescan has ended once, except that of reports, which is slowest when a device is
 * broken. */
static bool all_done_once(const struct node *n)
{
	for (int i = 0; i < N_RESCANS; i++)
		if (i != RESCAN_REPORTS && !n->rescanners[i].done_once)
			return false;
	return true;
}

static void rescan_schedule(struct rescanner *);

/* Calls the hook, then schedules the rescan of parts that were hinted in the meantime. */
static void rescan_ended(struct rescanner *l, bool changed)
{
	struct node *n = l->node;
	bool first;

	l->done_once = true;
	l->ended_ms = uv_now(n->loop);
	/* Read details only after the devices that they belong to. */
	if (l->kind == RESCAN_DEVICES)
		n->rescanners[RESCAN_DETAILS].wanted = 1;
	first = !n->complete && all_done_once(n);
	n->complete |= first;
	if (changed || first)
		n->changed(first, n->arg);
	for (int i = 0; i < N_RESCANS; i++)
		rescan_schedule(&n->rescanners[i]);
}

static void on_rescanned(void *arg)
{
	struct rescanner *l = arg;
	struct node *n = l->node;
	bool changed = false;

	l->us = l->took_us;
	l->credit_ms -= (int64_t)(l->us / 1000);
	if (!n->closing) {
		inventory_node_report_problems(l);
		changed = l->kind == RESCAN_DETAILS
				  ? inventory_apply_details(&n->inventory, &l->scan.host)
				  : inventory_apply(&n->inventory, &l->scan, l->began_ms);
	}
	log_debug("node", 0, "scanned %s for %llu us: %s", rescan_names[l->kind],
		  (unsigned long long)l->us, changed ? "changed" : "unchanged");
	scan_done(&l->scan);
	if (n->closing) {
		node_release_if_done(n);
		return;
	}
	timer_within(&n->trim, TRIM_MS);
	rescan_ended(l, changed);
}

static void rescan_count(struct rescanner *l)
{
	uint64_t *const counters[N_RESCANS] = {
		[RESCAN_FUNCTIONS] = &l->node->self->rescans_functions,
		[RESCAN_DEVICES] = &l->node->self->rescans_devices,
		[RESCAN_DETAILS] = &l->node->self->rescans_details,
		[RESCAN_REPORTS] = &l->node->self->rescans_reports,
	};

	++*counters[l->kind];
}

/* Returns the credit, which accrues with the time since the last rescan, up to CREDIT_MAX_MS. */
static int64_t credit_now(const struct rescanner *l)
{
	int64_t credit = l->credit_ms + (int64_t)(uv_now(l->node->loop) - l->ended_ms);

	return credit > CREDIT_MAX_MS ? CREDIT_MAX_MS : credit;
}

static void rescan_start(void *arg)
{
	static const char *const names[N_RESCANS] = {
		[RESCAN_FUNCTIONS] = "the scan of functions",
		[RESCAN_DEVICES] = "the scan of devices",
		[RESCAN_DETAILS] = "the scan of details of devices",
		[RESCAN_REPORTS] = "the scan of reports of devices",
	};
	struct rescanner *l = arg;
	int r = 1;

	l->credit_ms = credit_now(l);
	l->began_ms = uv_now(l->node->loop);
	l->parts = l->wanted & parts_of[l->kind];
	l->wanted = 0;
	l->scan = (struct scan){0};
	if (l->kind == RESCAN_DETAILS)
		r = inventory_take_stale(&l->node->inventory, &l->scan.host);
	if (r > 0) {
		job_begin(&l->work, l->node->loop, names[l->kind], rescan_on_worker, on_rescanned,
			  l);
		rescan_count(l);
	} else if (r == 0) {
		rescan_ended(l, false); /* no device is stale */
	} else {
		log_warn("node", r, "cannot scan the hardware; retrying");
		scan_done(&l->scan);
		l->wanted = 1;
		timer_in(&l->settle, RETRY_MS);
	}
}

/* Schedules the rescan of hinted parts. Later hints of a burst do not postpone it. */
static void rescan_schedule(struct rescanner *l)
{
	int64_t wait = l->kind == RESCAN_DETAILS ? DETAILS_SETTLE_MS : l->node->opts.settle_ms;
	int64_t debt = -credit_now(l);

	if (l->wanted == 0 || l->work.running || l->node->closing)
		return;
	if (l->node->moving && l->kind == RESCAN_DEVICES)
		wait = NODE_MOVING_MS;
	if (!l->done_once)
		wait = 0;
	timer_within(&l->settle, (uint64_t)(debt > wait ? debt : wait));
}

/* --- hints ------------------------------------------------------------------------------------ */

void node_hint(struct node *n, unsigned parts, bool lost)
{
	log_debug("node", 0, "hint:%s%s%s%s%s", parts & SCAN_FUNCTIONS ? " functions" : "",
		  parts & SCAN_NETDEVS ? " netdevs" : "", parts & SCAN_RDMA ? " rdma" : "",
		  parts & SCAN_REPORTS ? " reports" : "", lost ? " events lost" : "");
	if (lost) {
		n->self->resyncs++;
		inventory_mark_stale(&n->inventory, NSID_HOST, 0);
		parts = SCAN_ALL;
	}
	for (int i = 0; i < N_RESCANS; i++) {
		n->rescanners[i].wanted |= parts & parts_of[i];
		rescan_schedule(&n->rescanners[i]);
	}
}

void node_moving(struct node *n, bool moving)
{
	n->moving = moving;
	if (!moving)
		rescan_schedule(&n->rescanners[RESCAN_DEVICES]);
}

void node_hint_address(struct node *n, int nsid, int ifindex)
{
	if (!inventory_mark_stale(&n->inventory, nsid, ifindex))
		return;
	n->rescanners[RESCAN_DETAILS].wanted = 1;
	rescan_schedule(&n->rescanners[RESCAN_DETAILS]);
}

static void on_rescan(void *arg)
{
	struct node *n = arg;

	timer_in(&n->rescan, n->opts.rescan_interval_ms);
	node_hint(n, SCAN_ALL, false);
}

/* --- open and close --------------------------------------------------------------------------- */

int node_open(struct node **ret, struct uv_loop_s *loop, const struct hw *hw,
	      struct self_counters *self, const struct node_opts *opts, node_changed_fn *changed,
	      void *arg, struct err *e)
{
	struct node *n = calloc(1, sizeof(*n));

	if (!n)
		return err_set(e, -ENOMEM, "node: out of memory");
	n->loop = loop;
	n->hw = hw;
	n->self = self;
	n->opts = *opts;
	n->changed = changed;
	n->arg = arg;
	for (int i = 0; i < N_RESCANS; i++) {
		n->rescanners[i].node = n;
		n->rescanners[i].kind = (enum rescan)i;
		timer_init(&n->rescanners[i].settle, loop, rescan_start, &n->rescanners[i]);
	}
	timer_init(&n->rescan, loop, on_rescan, n);
	timer_init(&n->trim, loop, on_trim, n);
	n->open_handles = N_RESCANS + 2;
	if (opts->rescan_interval_ms > 0)
		timer_in(&n->rescan, opts->rescan_interval_ms);
	node_hint(n, SCAN_ALL, false);
	*ret = n;
	return 0;
}

static void node_on_closed(void *arg)
{
	struct node *n = arg;

	n->open_handles--;
	node_release_if_done(n);
}

static void on_rescanner_closed(void *arg)
{
	node_on_closed(((struct rescanner *)arg)->node);
}

void node_close(struct node *n)
{
	if (!n)
		return;
	n->closing = true;
	for (int i = 0; i < N_RESCANS; i++)
		timer_close(&n->rescanners[i].settle, on_rescanner_closed);
	timer_close(&n->rescan, node_on_closed);
	timer_close(&n->trim, node_on_closed);
}
