/* node.c - see node.h.
 *
 * Happy path: hint -> settle timer -> scan on a worker -> apply -> tell the others if anything
 * changed. Can fail by: parts of a scan failing (said once per source and again when it recovers;
 * the inventory keeps what it knew), storms (the pause between scans is at least as long as the
 * last scan took, so looking costs at most half a core). */
#include "node.h"

#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "log.h"

struct node {
	struct uv_loop_s *loop;
	const struct hw *hw;
	struct self_counters *self;
	struct node_opts opts;
	node_changed_fn *changed;
	void *arg;
	struct inventory inventory;

	uv_timer_t settle, rescan;
	unsigned open_handles;
	bool closing;

	uv_work_t work;
	bool scanning;
	unsigned wanted;    /* parts hinted at since the last scan began */
	unsigned scan_want; /* parts of the scan in flight */
	struct scan scan;   /* the worker's while `scanning` */
	uint64_t scan_us, scan_ended_ms;
	bool scanned_once;
	int problem[N_SCAN_SOURCES]; /* last code told, so that a lasting one is told once */
};

const struct inventory *node_inventory(const struct node *n)
{
	return &n->inventory;
}

uint64_t node_scan_us(const struct node *n)
{
	return n->scan_us;
}

static void release_if_done(struct node *n)
{
	if (n->open_handles > 0 || n->scanning)
		return;
	inventory_done(&n->inventory);
	free(n);
}

static void do_scan(uv_work_t *work)
{
	struct node *n = work->data;
	uint64_t start = uv_hrtime();

	hw_scan(n->hw, n->scan_want, &n->scan);
	n->scan_us = (uv_hrtime() - start) / 1000;
}

static void tell_problems(struct node *n)
{
	for (int i = 0; i < N_SCAN_SOURCES; i++) {
		const struct err *e = &n->scan.problem[i];

		if (e->code == n->problem[i] || (e->code == 0 && n->scan_want != SCAN_ALL))
			continue;
		if (e->code != 0)
			log_warn("node", 0, "%s: %s, going on without it", scan_source_name(i),
				 e->msg);
		else
			log_info("node", 0, "%s: works again", scan_source_name(i));
		n->problem[i] = e->code;
	}
}

static void schedule(struct node *n);

static void on_scanned(uv_work_t *work, int status)
{
	struct node *n = work->data;
	bool first = !n->scanned_once, changed = false;

	n->scanning = false;
	n->scan_ended_ms = uv_now(n->loop);
	if (status == 0 && !n->closing) {
		tell_problems(n);
		changed = inventory_apply(&n->inventory, &n->scan);
		n->scanned_once = true;
	}
	scan_done(&n->scan);
	if (n->closing) {
		release_if_done(n);
		return;
	}
	if (changed || first)
		n->changed(first, n->arg);
	schedule(n);
}

static void start_scan(uv_timer_t *timer)
{
	struct node *n = timer->data;
	int r;

	n->scan_want = n->wanted;
	n->wanted = 0;
	n->work.data = n;
	if (n->scan_want == SCAN_ALL)
		n->self->resyncs++;
	else
		n->self->scans++;
	r = uv_queue_work(n->loop, &n->work, do_scan, on_scanned);
	if (r == 0) {
		n->scanning = true;
		return;
	}
	log_warn("node", r, "cannot start a scan, trying again");
	n->wanted = n->scan_want;
	uv_timer_start(&n->settle, start_scan, 1000, 0);
}

/* Arms the settle timer, once per burst: later hints ride along and cannot postpone it. */
static void schedule(struct node *n)
{
	uint64_t wait = n->opts.settle_ms, rest = n->scan_us / 1000, since;

	if (n->wanted == 0 || n->scanning || n->closing || uv_is_active((uv_handle_t *)&n->settle))
		return;
	since = uv_now(n->loop) - n->scan_ended_ms;
	if (rest > since && rest - since > wait)
		wait = rest - since;
	uv_timer_start(&n->settle, start_scan, wait, 0);
}

void node_hint(struct node *n, unsigned parts, bool lost)
{
	n->wanted |= lost ? (unsigned)SCAN_ALL : parts;
	schedule(n);
}

static void on_rescan(uv_timer_t *timer)
{
	node_hint(timer->data, SCAN_ALL, false);
}

static void init_timer(struct node *n, uv_timer_t *timer)
{
	uv_timer_init(n->loop, timer);
	timer->data = n;
	n->open_handles++;
}

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
	init_timer(n, &n->settle);
	init_timer(n, &n->rescan);
	if (opts->rescan_interval_ms > 0)
		uv_timer_start(&n->rescan, on_rescan, opts->rescan_interval_ms,
			       opts->rescan_interval_ms);
	n->wanted = SCAN_ALL;
	start_scan(&n->settle);
	*ret = n;
	return 0;
}

static void on_handle_closed(uv_handle_t *h)
{
	struct node *n = h->data;

	n->open_handles--;
	release_if_done(n);
}

void node_close(struct node *n)
{
	if (!n)
		return;
	n->closing = true;
	uv_close((uv_handle_t *)&n->settle, on_handle_closed);
	uv_close((uv_handle_t *)&n->rescan, on_handle_closed);
}
