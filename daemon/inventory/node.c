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

#include "cleanup.h"
#include "due.h"
#include "job.h"
#include "log.h"

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
	struct due settle;
	struct job work;
	bool done_once;
	unsigned wanted; /* parts hinted at since the last look began; LOOK_DETAILS: any bit */
	uint64_t us, began_ms, ended_ms;
	int64_t credit_ms;	  /* as of ended_ms; below 0 the next look has to wait */
	int told[N_SCAN_SOURCES]; /* problem codes last logged */

	/* The worker's own while it works. */
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
	struct due rescan, trim;
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
		if (n->lookers[i].work.running)
			return;
	if (n->open_handles > 0)
		return;
	inventory_done(&n->inventory);
	free(n);
}

/* A look is made of thousands of small pieces, and leaves as many holes in the heap. Giving them
 * back takes a turn, and so does getting them again for who comes next: not after every look of a
 * storm, and not while what follows a look is waited for. */
static void on_trim(void *arg)
{
	(void)arg;
	malloc_trim(0);
}

/* --- one look --------------------------------------------------------------------------------- */

static void look_on_worker(void *arg)
{
	struct looker *l = arg;
	uint64_t start = uv_hrtime();

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
static void look_ended(struct looker *l, bool changed)
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

static void on_looked(void *arg)
{
	struct looker *l = arg;
	struct node *n = l->node;
	bool changed = false;

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
	due_within(&n->trim, TRIM_MS);
	look_ended(l, changed);
}

static void count_look(struct looker *l)
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

static void start_look(void *arg)
{
	struct looker *l = arg;
	int r = 1;

	l->credit_ms = credit_now(l);
	l->began_ms = uv_now(l->node->loop);
	l->want = l->wanted & parts_of[l->kind];
	l->wanted = 0;
	l->scan = (struct scan){0};
	if (l->kind == LOOK_DETAILS)
		r = inventory_take_stale(&l->node->inventory, &l->scan.host);
	if (r > 0) {
		job_begin(&l->work, l->node->loop, look_on_worker, on_looked, l);
		count_look(l);
	} else if (r == 0) {
		look_ended(l, false); /* nothing is stale */
	} else {
		log_warn("node", r, "cannot look at the hardware, trying again");
		scan_done(&l->scan);
		l->wanted = 1;
		due_in(&l->settle, RETRY_MS);
	}
}

/* Once per burst: later hints ride along and cannot postpone it. */
static void schedule(struct looker *l)
{
	int64_t wait = l->kind == LOOK_DETAILS ? DETAILS_SETTLE_MS : l->node->opts.settle_ms;
	int64_t debt = -credit_now(l);

	if (l->wanted == 0 || l->work.running || l->node->closing)
		return;
	if (!l->done_once)
		wait = 0;
	due_within(&l->settle, (uint64_t)(debt > wait ? debt : wait));
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

static void on_rescan(void *arg)
{
	struct node *n = arg;

	due_in(&n->rescan, n->opts.rescan_interval_ms);
	node_hint(n, SCAN_ALL, false);
}

/* --- life ------------------------------------------------------------------------------------- */

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
		due_init(&n->lookers[i].settle, loop, start_look, &n->lookers[i]);
	}
	due_init(&n->rescan, loop, on_rescan, n);
	due_init(&n->trim, loop, on_trim, n);
	n->open_handles = N_LOOKS + 2;
	if (opts->rescan_interval_ms > 0)
		due_in(&n->rescan, opts->rescan_interval_ms);
	node_hint(n, SCAN_ALL, false);
	*ret = n;
	return 0;
}

static void on_closed(void *arg)
{
	struct node *n = arg;

	n->open_handles--;
	release_if_done(n);
}

static void on_looker_closed(void *arg)
{
	on_closed(((struct looker *)arg)->node);
}

void node_close(struct node *n)
{
	if (!n)
		return;
	n->closing = true;
	for (int i = 0; i < N_LOOKS; i++)
		due_close(&n->lookers[i].settle, on_looker_closed);
	due_close(&n->rescan, on_closed);
	due_close(&n->trim, on_closed);
}
