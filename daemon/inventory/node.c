/* node.c - see node.h.
 *
 * Happy path: hint -> settle timer -> look on a worker -> apply -> tell the others if anything
 * changed. Can fail by: parts of a look failing (said once per source and again when it recovers;
 * the inventory keeps what it knew), storms (looking spends credit that time earns, so in the long
 * run each kind costs at most half a core). */
#include "node.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "cleanup.h"
#include "log.h"
#include "worker.h"

/* GIDs are made by a work queue of the kernel after the event that leads to them (ib_core's
 * roce_gid_mgmt.c). */
#define DETAILS_SETTLE_MS 100
#define RETRY_MS	  1000
/* A burst of events may be answered at once for so long; a lasting storm only every other moment.
 */
#define CREDIT_MAX_MS	  200
/* From a look until the heap is trimmed. */
#define TRIM_MS		  500

/* One of the four; embedded in the node. */
struct looker {
	struct node *node;
	enum look kind;
	uv_timer_t settle;
	uv_work_t work;
	bool running, done_once;
	unsigned wanted; /* parts hinted at since the last look began; LOOK_DETAILS: any bit */
	uint64_t us, began_ms, ended_ms;
	int64_t credit_ms;	  /* as of ended_ms; below 0 the next look has to wait */
	int told[N_SCAN_SOURCES]; /* problem codes last logged */

	/* The worker's own while `running`. */
	unsigned want;
	uint64_t took_us;
	struct scan scan; /* LOOK_DETAILS: scan.host holds the devices to be read */
};

struct node {
	struct uv_loop_s *loop;
	const struct hw *hw;
	struct self_counters *self;
	struct node_opts opts;
	node_changed_fn *changed;
	void *arg;
	struct inventory inventory;
	struct looker lookers[N_LOOKS];
	uv_timer_t rescan, trim;
	unsigned open_handles;
	bool closing, complete;
};

static const unsigned parts_of[N_LOOKS] = {
	[LOOK_FUNCTIONS] = SCAN_FUNCTIONS,
	[LOOK_DEVICES] = SCAN_NETDEVS | SCAN_RDMA,
	[LOOK_REPORTS] = SCAN_REPORTS,
};

static const char *const look_names[N_LOOKS] = {
	[LOOK_FUNCTIONS] = "functions",
	[LOOK_DEVICES] = "devices",
	[LOOK_DETAILS] = "details",
	[LOOK_REPORTS] = "reports",
};

struct inventory *node_inventory(struct node *n)
{
	return &n->inventory;
}

bool node_knows_devices(const struct node *n)
{
	return n->lookers[LOOK_FUNCTIONS].done_once && n->lookers[LOOK_DEVICES].done_once;
}

bool node_complete(const struct node *n)
{
	return n->complete;
}

uint64_t node_look_us(const struct node *n, enum look kind)
{
	return n->lookers[kind].us;
}

static void release_if_done(struct node *n)
{
	for (int i = 0; i < N_LOOKS; i++)
		if (n->lookers[i].running)
			return;
	if (n->open_handles > 0)
		return;
	inventory_done(&n->inventory);
	free(n);
}

/* A look is made of thousands of small pieces, and leaves as many holes in the heap. Giving them
 * back takes a turn, and so does getting them again for who comes next: not after every look of a
 * storm, and not while what follows a look is waited for. */
static void on_trim(uv_timer_t *timer)
{
	(void)timer;
	malloc_trim(0);
}

static void trim_later(struct node *n)
{
	if (!uv_is_active((uv_handle_t *)&n->trim))
		uv_timer_start(&n->trim, on_trim, TRIM_MS, 0);
}

/* --- one look --------------------------------------------------------------------------------- */

static void on_worker(uv_work_t *work)
{
	struct looker *l = work->data;
	uint64_t start = uv_hrtime();

	worker_begin();
	if (l->kind == LOOK_DETAILS)
		hw_read_details(l->node->hw, &l->scan.host, l->scan.problem);
	else
		hw_scan(l->node->hw, l->want, &l->scan);
	l->took_us = (uv_hrtime() - start) / 1000;
}

/* What lasts is told once. A look at fewer parts than its kind has says nothing of the others. */
static void tell_problems(struct looker *l)
{
	for (int i = 0; i < N_SCAN_SOURCES; i++) {
		const struct err *e = &l->scan.problem[i];

		if (e->code == l->told[i] || (e->code == 0 && l->want != parts_of[l->kind]))
			continue;
		if (e->code != 0)
			log_warn("node", 0, "%s: %s, going on without it", scan_source_name(i),
				 e->msg);
		else
			log_info("node", 0, "%s: works again", scan_source_name(i));
		l->told[i] = e->code;
	}
}

/* Nobody waits for reports: they are the slowest where a device is ill. */
static bool all_done_once(const struct node *n)
{
	for (int i = 0; i < N_LOOKS; i++)
		if (i != LOOK_REPORTS && !n->lookers[i].done_once)
			return false;
	return true;
}

static void schedule(struct looker *);

/* Tells the others; then whatever is still wanted is scheduled. */
static void finish(struct looker *l, bool changed)
{
	struct node *n = l->node;
	bool first;

	l->done_once = true;
	l->ended_ms = uv_now(n->loop);
	/* Details come after the devices that they belong to. */
	if (l->kind == LOOK_DEVICES)
		n->lookers[LOOK_DETAILS].wanted = 1;
	first = !n->complete && all_done_once(n);
	n->complete |= first;
	if (changed || first)
		n->changed(first, n->arg);
	for (int i = 0; i < N_LOOKS; i++)
		schedule(&n->lookers[i]);
}

static void on_looked(uv_work_t *work, int status)
{
	struct looker *l = work->data;
	struct node *n = l->node;
	bool changed = false;

	(void)status;
	l->running = false;
	l->us = l->took_us;
	l->credit_ms -= (int64_t)(l->us / 1000);
	if (!n->closing) {
		tell_problems(l);
		changed = l->kind == LOOK_DETAILS
				  ? inventory_apply_details(&n->inventory, &l->scan.host)
				  : inventory_apply(&n->inventory, &l->scan, l->began_ms);
	}
	log_debug("node", 0, "looked at %s for %llu us: %s", look_names[l->kind],
		  (unsigned long long)l->us, changed ? "changed" : "as before");
	scan_done(&l->scan);
	if (n->closing) {
		release_if_done(n);
		return;
	}
	trim_later(n);
	finish(l, changed);
}

static void count(struct looker *l)
{
	uint64_t *const counters[N_LOOKS] = {
		[LOOK_FUNCTIONS] = &l->node->self->looks_functions,
		[LOOK_DEVICES] = &l->node->self->looks_devices,
		[LOOK_DETAILS] = &l->node->self->looks_details,
		[LOOK_REPORTS] = &l->node->self->looks_reports,
	};

	++*counters[l->kind];
}

/* Time earns looks: as much as has passed since the last one, up to CREDIT_MAX_MS. */
static int64_t credit_now(const struct looker *l)
{
	int64_t credit = l->credit_ms + (int64_t)(uv_now(l->node->loop) - l->ended_ms);

	return credit > CREDIT_MAX_MS ? CREDIT_MAX_MS : credit;
}

static void start_look(uv_timer_t *timer)
{
	struct looker *l = timer->data;
	int r = 0;

	l->credit_ms = credit_now(l);
	l->began_ms = uv_now(l->node->loop);
	l->want = l->wanted & parts_of[l->kind];
	l->wanted = 0;
	l->scan = (struct scan){0};
	if (l->kind == LOOK_DETAILS)
		r = inventory_take_stale(&l->node->inventory, &l->scan.host);
	if (r == 0 && l->kind == LOOK_DETAILS) {
		finish(l, false); /* nothing is stale */
		return;
	}
	l->work.data = l;
	if (r >= 0)
		r = uv_queue_work(l->node->loop, &l->work, on_worker, on_looked);
	if (r == 0) {
		l->running = true;
		count(l);
		return;
	}
	log_warn("node", r, "cannot look at the hardware, trying again");
	scan_done(&l->scan);
	l->wanted = l->want | (l->kind == LOOK_DETAILS);
	uv_timer_start(&l->settle, start_look, RETRY_MS, 0);
}

/* Arms the settle timer, once per burst: later hints ride along and cannot postpone it. */
static void schedule(struct looker *l)
{
	int64_t wait = l->kind == LOOK_DETAILS ? DETAILS_SETTLE_MS : l->node->opts.settle_ms;
	int64_t debt = -credit_now(l);

	if (l->wanted == 0 || l->running || l->node->closing ||
	    uv_is_active((uv_handle_t *)&l->settle))
		return;
	if (!l->done_once)
		wait = 0;
	uv_timer_start(&l->settle, start_look, (uint64_t)(debt > wait ? debt : wait), 0);
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
	for (int i = 0; i < N_LOOKS; i++) {
		n->lookers[i].wanted |= parts & parts_of[i];
		schedule(&n->lookers[i]);
	}
}

void node_hint_address(struct node *n, int nsid, int ifindex)
{
	if (!inventory_mark_stale(&n->inventory, nsid, ifindex))
		return;
	n->lookers[LOOK_DETAILS].wanted = 1;
	schedule(&n->lookers[LOOK_DETAILS]);
}

static void on_rescan(uv_timer_t *timer)
{
	node_hint(timer->data, SCAN_ALL, false);
}

/* --- life ------------------------------------------------------------------------------------- */

static void init_timer(struct node *n, uv_timer_t *timer, void *data)
{
	uv_timer_init(n->loop, timer);
	timer->data = data;
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
	for (int i = 0; i < N_LOOKS; i++) {
		n->lookers[i].node = n;
		n->lookers[i].kind = (enum look)i;
		init_timer(n, &n->lookers[i].settle, &n->lookers[i]);
	}
	init_timer(n, &n->rescan, n);
	init_timer(n, &n->trim, n);
	if (opts->rescan_interval_ms > 0)
		uv_timer_start(&n->rescan, on_rescan, opts->rescan_interval_ms,
			       opts->rescan_interval_ms);
	node_hint(n, SCAN_ALL, false);
	*ret = n;
	return 0;
}

static void on_handle_closed(uv_handle_t *h)
{
	struct looker *l = h->data;

	l->node->open_handles--;
	release_if_done(l->node);
}

static void on_timer_closed(uv_handle_t *h)
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
	for (int i = 0; i < N_LOOKS; i++)
		uv_close((uv_handle_t *)&n->lookers[i].settle, on_handle_closed);
	uv_close((uv_handle_t *)&n->rescan, on_timer_closed);
	uv_close((uv_handle_t *)&n->trim, on_timer_closed);
}
