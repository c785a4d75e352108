// SPDX-License-Identifier: Apache-2.0
#include "owners.h"

#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "job.h"
#include "process_owner.h"
#include "search.h"
#include "timer.h"

/* Returns the cached owner; NULL: it is not cached, or expired. */
static const struct process_owner *known_owners_find(const struct known_owners *os, uint32_t pid,
						     uint64_t cgroup, uint64_t now_ms)
{
	for (size_t i = 0; i < os->n; i++) {
		const struct process_owner *o = &os->items[i].owner;

		if (o->pid == pid && o->cgroup == cgroup &&
		    now_ms - os->items[i].found_ms < KNOWN_OWNER_MS)
			return o;
	}
	return NULL;
}

static size_t slot_for(struct known_owners *os, uint32_t pid)
{
	size_t oldest = 0;

	for (size_t i = 0; i < os->n; i++) {
		if (os->items[i].owner.pid == pid)
			return i;
		if (os->items[i].found_ms < os->items[oldest].found_ms)
			oldest = i;
	}
	return os->n < KNOWN_OWNERS_MAX ? os->n++ : oldest;
}

/* Replaces the entry of the same pid, otherwise the oldest entry. */
static void known_owners_keep(struct known_owners *os, const struct process_owner *owner,
			      uint64_t now_ms)
{
	size_t slot = slot_for(os, owner->pid);

	os->items[slot].owner = *owner;
	os->items[slot].found_ms = now_ms;
}

/* Maximum number of processes per lookup; the rest are looked up at their next event. */
#define LOOKUP_MAX  1024
/* An event is delivered without its pod after this time, e.g. if the workers are stuck. A lookup
 * takes a few milliseconds. */
#define WAIT_MS	    500
#define WAITING_MAX 64

/* A lookup; owned by the worker while it runs. */
struct lookup {
	struct job job;
	struct owners *parent;
	int proc_fd;
	struct process_owner processes[LOOKUP_MAX], *owners;
	size_t n, n_owners;
};

/* An event that waits for its pod. */
struct waiting {
	uint32_t pid;
	uint64_t cgroup, until_ms;
	struct event event;
};

struct owners {
	uv_loop_t *loop;
	const struct hw *hw;
	struct owners_hooks hooks;
	bool closing, timer_closed;
	struct timer timer;			    /* the earliest deadline of a waiting event */
	struct lookup *lookup;			    /* the running lookup; NULL = none */
	struct process_owner processes[LOOKUP_MAX]; /* for the next lookup */
	size_t n_processes;
	struct known_owners known;
	struct waiting waiting[WAITING_MAX];
	size_t n_waiting;
};

/* --- events ----------------------------------------------------------------------------------- */

void owners_deliver_to_pod(struct owners *o, const char *pod_uid, const struct event *event)
{
	const struct sandbox_list *pods = o->hooks.sandboxes ? o->hooks.sandboxes(o->hooks.arg)
							     : NULL;
	const struct sandbox *pod = pods ? sandbox_of_pod(pods, pod_uid) : NULL;
	struct event e = *event;
	size_t n = strlen(e.message);

	if (pod) {
		memcpy(e.namespace, pod->namespace, sizeof(e.namespace));
		memcpy(e.pod, pod->pod, sizeof(e.pod));
	} else if (pod_uid[0]) {
		snprintf(e.message + n, sizeof(e.message) - n, "; pod %s", pod_uid);
	}
	o->hooks.event(&e, o->hooks.arg);
}

static bool lookup_contains(const struct lookup *q, uint32_t pid, uint64_t cgroup)
{
	return any_of(q->n, i, q->processes[i].pid == pid && q->processes[i].cgroup == cgroup);
}

/* Delivers the events whose process is cached, those whose process was in the finished lookup (may
 * be NULL) even if that found nothing, and those past their deadline. */
static void deliver_waiting(struct owners *o, const struct lookup *finished, uint64_t now_ms)
{
	size_t n = 0;

	for (size_t i = 0; i < o->n_waiting; i++) {
		const struct waiting *w = &o->waiting[i];
		const struct process_owner *owner = known_owners_find(&o->known, w->pid, w->cgroup,
								      now_ms);

		if (owner || w->until_ms <= now_ms ||
		    (finished && lookup_contains(finished, w->pid, w->cgroup)))
			owners_deliver_to_pod(o, owner ? owner->pod_uid : "", &w->event);
		else
			o->waiting[n++] = *w;
	}
	o->n_waiting = n;
}

static void owners_run_timer(struct owners *o)
{
	uint64_t next = TIMER_NEVER;

	for (size_t i = 0; i < o->n_waiting; i++)
		if (o->waiting[i].until_ms < next)
			next = o->waiting[i].until_ms;
	timer_at(&o->timer, next);
}

static void owners_on_timer(void *arg)
{
	struct owners *o = arg;

	deliver_waiting(o, NULL, uv_now(o->loop));
	owners_run_timer(o);
}

/* --- lookups ---------------------------------------------------------------------------------- */

static void owners_release_if_done(struct owners *o)
{
	if (o->closing && o->timer_closed && !o->lookup)
		free(o);
}

static void find_owners(void *arg)
{
	struct lookup *q = arg;

	q->n_owners = process_owners(q->proc_fd, q->processes, q->n, &q->owners);
}

static void owners_request(struct owners *o);

static void take_results(struct owners *o, const struct lookup *q)
{
	for (size_t i = 0; i < q->n_owners; i++)
		known_owners_keep(&o->known, &q->owners[i], uv_now(o->loop));
	if (o->hooks.named)
		o->hooks.named(q->owners, q->n_owners, o->hooks.arg);
	deliver_waiting(o, q, uv_now(o->loop));
	owners_run_timer(o);
	owners_request(o);
}

static void on_found(void *arg)
{
	struct lookup *q = arg;
	struct owners *o = q->parent;

	o->lookup = NULL;
	if (!o->closing)
		take_results(o, q);
	free(q->owners);
	free(q);
	owners_release_if_done(o);
}

static void owners_request(struct owners *o)
{
	struct lookup *q;

	if (o->n_processes == 0 || o->lookup)
		return;
	q = calloc(1, sizeof(*q));
	if (!q)
		return; /* retried at the next event */
	q->parent = o;
	q->proc_fd = o->hw->proc_fd;
	q->n = o->n_processes;
	memcpy(q->processes, o->processes, sizeof(*o->processes) * o->n_processes);
	o->n_processes = 0;
	o->lookup = q;
	job_begin(&q->job, o->loop, "the search for owners of processes", find_owners, on_found, q);
}

static void request_lookup(struct owners *o, uint32_t pid, uint64_t cgroup)
{
	for (size_t i = 0; i < o->n_processes; i++)
		if (o->processes[i].pid == pid && o->processes[i].cgroup == cgroup)
			return;
	if (o->n_processes < LOOKUP_MAX)
		o->processes[o->n_processes++] = (struct process_owner){.pid = pid,
									.cgroup = cgroup};
	owners_request(o);
}

const struct process_owner *owners_find(struct owners *o, uint32_t pid, uint64_t cgroup)
{
	const struct process_owner *owner = known_owners_find(&o->known, pid, cgroup,
							      uv_now(o->loop));

	if (!owner)
		request_lookup(o, pid, cgroup);
	return owner;
}

void owners_deliver(struct owners *o, uint32_t pid, uint64_t cgroup, const struct event *event)
{
	const struct process_owner *owner = pid ? owners_find(o, pid, cgroup) : NULL;

	if (owner || pid == 0 || o->n_waiting == WAITING_MAX) {
		owners_deliver_to_pod(o, owner ? owner->pod_uid : "", event);
		return;
	}
	o->waiting[o->n_waiting++] = (struct waiting){.pid = pid,
						      .cgroup = cgroup,
						      .until_ms = uv_now(o->loop) + WAIT_MS,
						      .event = *event};
	owners_run_timer(o);
}

/* --- open and close --------------------------------------------------------------------------- */

int owners_open(struct owners **ret, struct uv_loop_s *loop, const struct hw *hw,
		const struct owners_hooks *hooks, struct err *e)
{
	struct owners *o = calloc(1, sizeof(*o));

	if (!o)
		return err_set(e, -ENOMEM, "out of memory");
	o->loop = loop;
	o->hw = hw;
	o->hooks = *hooks;
	timer_init(&o->timer, loop, owners_on_timer, o);
	*ret = o;
	return 0;
}

static void owners_on_closed(void *arg)
{
	struct owners *o = arg;

	o->timer_closed = true;
	owners_release_if_done(o);
}

void owners_close(struct owners *o)
{
	if (!o)
		return;
	o->closing = true;
	deliver_waiting(o, NULL, UINT64_MAX);
	timer_close(&o->timer, owners_on_closed);
}
