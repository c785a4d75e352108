// SPDX-License-Identifier: Apache-2.0
/* packet_ports.c - runs one worker job at a time, which detaches unused programs or attaches one
 * port.
 *
 * Success: follow -> a job for each new port -> [worker: open its namespace, attach] -> listed as
 * watched. Failures: attaching fails (logged once, retried each minute); the budget is exceeded
 * (retried once there is room); the plan changes in the meantime (the attached program is detached
 * again). A view holds references to attached programs, so closing waits for views. */
#include "packet_ports.h"

#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "job.h"
#include "log.h"
#include "packet_job.h"
#include "packet_view.h"
#include "search.h"
#include "timer.h"

struct watched {
	struct packet_wanted want;
	struct attached *attached; /* NULL: it is not, or not yet */
	uint64_t retry_ms;	   /* loop time of the next try, 0 = not tried yet */
	uint64_t needs;		   /* minimum of bytes that it needs, 0 = not known */
};

struct packet_ports {
	struct uv_loop_s *loop;
	struct packet_ports_opts opts;
	uint64_t used; /* bytes of all attached programs */
	struct timer timer;
	bool closing;
	unsigned views;

	struct watched *items;
	struct packet_port *list; /* each item, for display */
	size_t n;
	struct attached *unused; /* to be detached by the next job */
	/* Measured memory in bytes of the last port with `measured_flows` flows. */
	uint32_t measured_flows;
	uint64_t measured;

	struct job work;
	/* Owned by the worker while it runs. */
	bool attaching;
	struct attached *detaching;
	struct attached *reserved; /* memory for the result, allocated before the job */
	struct packet_job job;
};

static void begin_next(struct packet_ports *);

static void packet_ports_free(void *arg)
{
	struct packet_ports *p = arg;

	free(p->reserved);
	free(p);
}

static void packet_release(struct packet_ports *p, struct attached *a)
{
	if (!a || --a->refs)
		return;
	a->next = p->unused;
	p->unused = a;
}

size_t packet_ports_list(const struct packet_ports *p, const struct packet_port **ret)
{
	if (!p)
		return 0;
	*ret = p->list;
	return p->n;
}

/* --- result of an attach ---------------------------------------------------------------------- */

/* True if the failure is expected, because the pod has ended: its interface, namespace and
 * namespace name are removed before the inventory changes. */
static bool ended_with_its_pod(const struct packet_port *port)
{
	return port->nsid != NSID_HOST &&
	       (port->error == -ESTALE || port->error == -ENODEV || port->error == -ENOENT);
}

static void packet_log_failed(const struct packet_port *port, const char *in, const struct err *e)
{
	if (ended_with_its_pod(port))
		log_info("bpf", 0, "%s%s%s: cannot count RoCE packets: %s", port->netdev, in,
			 port->netns, e->msg);
	else
		log_warn("bpf", 0, "%s%s%s: cannot count RoCE packets: %s; retrying %s",
			 port->netdev, in, port->netns, e->msg,
			 port->error == -ENOSPC ? "when memory is free" : "each minute");
}

static void log_result(const struct packet_port *port, int error_before, const struct err *e)
{
	const char *in = port->netns[0] ? " in " : "";

	if (port->error && port->error != error_before)
		packet_log_failed(port, in, e);
	else if (port->error == 0 && e->code)
		log_warn("bpf", 0, "%s%s%s: %s, going on without it", port->netdev, in, port->netns,
			 e->msg);
	else if (port->error == 0 && error_before)
		log_info("bpf", 0, "%s%s%s: RoCE packets are counted now", port->netdev, in,
			 port->netns);
}

static int packet_compare_wanted(const void *a, const void *b)
{
	const struct watched *y = b;

	return packet_wanted_cmp(a, &y->want);
}

static struct watched *packet_find_watched(struct watched *items, size_t n,
					   const struct packet_wanted *want)
{
	struct watched *w = n ? bsearch(want, items, n, sizeof(*items), packet_compare_wanted)
			      : NULL;

	return w && packet_wanted_same(&w->want, want) ? w : NULL;
}

/* Stores the program in its item, or releases it if the item was removed in the meantime. */
static void store_attached(struct packet_ports *p, struct watched *w)
{
	struct attached *a = take_ptr(p->reserved);

	*a = (struct attached){.fd = p->job.fd, .memory = p->job.memory, .refs = 1};
	p->job.fd = NULL;
	p->used += a->memory;
	if (w)
		w->attached = a;
	else
		packet_release(p, a);
}

static void keep_measured(struct packet_ports *p)
{
	if (!p->job.needs_with_flows)
		return;
	p->measured = p->job.needs_with_flows;
	p->measured_flows = p->job.want.port.flows;
}

static void publish_result(struct packet_ports *p, struct watched *w)
{
	const struct packet_job *j = &p->job;
	struct packet_port *port = &p->list[w - p->items];
	int before = port->error;

	port->error = j->result;
	port->hook = j->hook;
	port->memory = j->memory;
	port->flows = j->flows;
	w->retry_ms = uv_now(p->loop) + p->opts.retry_ms;
	w->needs = j->needs;
	log_result(port, before, &j->err);
}

static void packet_attach_ended(struct packet_ports *p)
{
	struct watched *w = packet_find_watched(p->items, p->n, &p->job.want);

	keep_measured(p);
	if (p->job.result == 0)
		store_attached(p, w);
	if (w)
		publish_result(p, w);
}

/* --- jobs ------------------------------------------------------------------------------------- */

static void run_port_job(void *arg)
{
	struct packet_ports *p = arg;

	for (struct attached *a = p->detaching; a; a = a->next)
		a->result = packet_port_close(a->fd);
	if (p->attaching)
		packet_job_attach(&p->job);
}

static void detach_ended(struct packet_ports *p)
{
	while (p->detaching) {
		struct attached *a = p->detaching;

		p->detaching = a->next;
		p->used -= a->memory;
		if (a->result < 0)
			log_warn("bpf", a->result, "a packet program stays attached");
		free(a);
	}
}

static void packet_on_worked(void *arg)
{
	struct packet_ports *p = arg;

	detach_ended(p);
	if (p->attaching)
		packet_attach_ended(p);
	p->attaching = false;
	begin_next(p);
}

static uint64_t memory_left(const struct packet_ports *p)
{
	return p->opts.memory_budget > p->used ? p->opts.memory_budget - p->used : 0;
}

/* True if the port exceeded the budget: it is not retried until there is room for it. */
static bool waits_for_room(const struct packet_ports *p, const struct watched *w)
{
	return p->list[w - p->items].error == -ENOSPC && w->needs;
}

static bool packet_is_due(const struct packet_ports *p, const struct watched *w)
{
	if (w->attached)
		return false;
	if (w->retry_ms == 0)
		return true;
	if (waits_for_room(p, w))
		return w->needs <= memory_left(p);
	return w->retry_ms <= uv_now(p->loop);
}

/* Returns the next port to attach; NULL: none now. */
static struct watched *packet_next_due(struct packet_ports *p)
{
	return find_first(p->items, p->n, i, packet_is_due(p, &p->items[i]));
}

static void packet_on_timer(void *arg)
{
	begin_next(arg);
}

/* Sets the timer for the next retry, or none if no retry is pending. */
static void wait_for_next(struct packet_ports *p)
{
	uint64_t soon = uv_now(p->loop) + 1, next = TIMER_NEVER;

	for (size_t i = 0; i < p->n; i++)
		if (!p->items[i].attached && !waits_for_room(p, &p->items[i]) &&
		    p->items[i].retry_ms < next)
			next = p->items[i].retry_ms;
	timer_at(&p->timer, next > soon ? next : soon);
}

/* Prepares the job. False: out of memory, retried later. */
static bool begin_attach(struct packet_ports *p, struct watched *w)
{
	if (!p->reserved)
		p->reserved = calloc(1, sizeof(*p->reserved));
	if (!p->reserved) {
		w->retry_ms = uv_now(p->loop) + p->opts.retry_ms;
		return false;
	}
	p->job.want = w->want;
	p->job.room = memory_left(p);
	p->job.no_flows = w->want.port.flows && w->want.port.flows == p->measured_flows &&
			  p->measured > p->job.room;
	return true;
}

/* Starts the next job. Detaches first, in a separate job, because that frees memory of the budget.
 */
static void begin_next(struct packet_ports *p)
{
	struct watched *w = NULL;

	if (p->work.running)
		return;
	if (!p->unused && !p->closing)
		w = packet_next_due(p);
	p->attaching = w && begin_attach(p, w);
	p->detaching = take_ptr(p->unused);
	if (p->attaching || p->detaching) {
		job_begin(&p->work, p->loop, "attaching packet programs", run_port_job,
			  packet_on_worked, p);
		return;
	}
	if (!p->closing)
		wait_for_next(p);
	else if (!p->views)
		timer_close(&p->timer, packet_ports_free);
}

/* --- the plan --------------------------------------------------------------------------------- */

/* Copies the state of a port that is also in the new plan. */
static void carry_over(struct packet_ports *p, struct watched *w, struct packet_port *port)
{
	struct watched *old = packet_find_watched(p->items, p->n, &w->want);
	const struct packet_port *before = old ? &p->list[old - p->items] : NULL;

	if (!old)
		return;
	w->attached = take_ptr(old->attached);
	w->retry_ms = old->retry_ms;
	w->needs = old->needs;
	port->hook = before->hook;
	port->error = before->error;
	port->memory = before->memory;
	port->flows = w->retry_ms ? before->flows : port->flows;
}

static void replace_items(struct packet_ports *p, struct watched *items, struct packet_port *list,
			  size_t n)
{
	for (size_t i = 0; i < p->n; i++)
		packet_release(p, p->items[i].attached);
	free(p->items);
	free(p->list);
	p->items = items;
	p->list = list;
	p->n = n;
}

void packet_ports_follow(struct packet_ports *p, const struct packet_plan *plan)
{
	struct watched *items = calloc(plan->n + 1, sizeof(*items));
	struct packet_port *list = calloc(plan->n + 1, sizeof(*list));

	if (!items || !list) {
		free(items);
		free(list);
		log_warn("bpf", -ENOMEM,
			 "cannot update the watched interfaces, keeping the previous ones");
		return;
	}
	for (size_t i = 0; i < plan->n; i++) {
		items[i].want = plan->items[i];
		list[i] = plan->items[i].port;
		carry_over(p, &items[i], &list[i]);
	}
	replace_items(p, items, list, plan->n);
	begin_next(p);
}

/* --- views ------------------------------------------------------------------------------------ */

struct packet_view *packet_ports_view(struct packet_ports *p)
{
	struct packet_view *v = p && p->n ? packet_view_new(p, p->list, p->n) : NULL;

	if (!v)
		return NULL;
	for (size_t i = 0; i < p->n; i++) {
		v->attached[i] = p->items[i].attached;
		if (v->attached[i])
			v->attached[i]->refs++;
	}
	p->views++;
	return v;
}

void packet_view_put(struct packet_view *v)
{
	struct packet_ports *p = v ? v->owner : NULL;

	if (!v)
		return;
	for (size_t i = 0; i < v->n; i++)
		packet_release(p, v->attached[i]);
	p->views--;
	packet_view_free(v);
	begin_next(p);
}

/* --- open and close --------------------------------------------------------------------------- */

int packet_ports_open(struct packet_ports **ret, struct uv_loop_s *loop, const struct hw *hw,
		      const struct packet_ports_opts *opts, struct err *e)
{
	struct packet_ports *p = calloc(1, sizeof(*p));

	if (!p)
		return err_set(e, -ENOMEM, "out of memory");
	p->loop = loop;
	p->opts = *opts;
	p->job.hw = hw;
	timer_init(&p->timer, loop, packet_on_timer, p);
	*ret = p;
	return 0;
}

void packet_ports_close(struct packet_ports *p)
{
	if (!p)
		return;
	p->closing = true;
	timer_at(&p->timer, TIMER_NEVER);
	replace_items(p, NULL, NULL, 0);
	begin_next(p);
}
