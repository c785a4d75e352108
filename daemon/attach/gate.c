// SPDX-License-Identifier: Apache-2.0
/* gate.c - the kubelet calls PreStartContainer and waits until every device is in its pod, or one
 * cannot be attached, or the deadline has passed. The error then names what is missing. */
#include "gate.h"

#include <stdlib.h>
#include <string.h>

#include "gate_device.h"

/* While a container waits, new lists are requested at this interval: an answer may be lost. */
#define LISTS_MS 1000

struct attach_gate {
	struct waiter waiter; /* must be first: the gate is freed as its waiter */
	struct attach_engine *engine;
	attach_gate_fn *fn;
	void *arg;
	uint64_t since_us;
	bool attached; /* its pool had a network at the time of the request */
	char resource[RESOURCE_NAME_SIZE];
	size_t n;
	char ids[][PLUGIN_ID_SIZE];
};

/* --- one request ------------------------------------------------------------------------------ */

static struct gate_view view_of(const struct attach_gate *gate, size_t i,
				const struct attach_view *view)
{
	return (struct gate_view){gate->engine,		 view,
				  gate->resource,	 gate->ids[i],
				  gate->waiter.since_ms, gate->attached};
}

/* Decides whether the container may start: not if one of its devices is rejected. err: the reason,
 * or what the last waiting device still needs. */
static enum gate_answer gate_judge(const struct attach_gate *gate, const struct attach_view *view,
				   struct err *err)
{
	enum gate_answer all = GATE_OPENS;

	for (size_t i = 0; i < gate->n; i++) {
		struct gate_view g = view_of(gate, i, view);
		enum gate_answer one = gate_judge_device(&g, err);

		if (one == GATE_REFUSES)
			return one;
		if (one == GATE_WAITS)
			all = one;
	}
	return all;
}

static void opened(const struct attach_gate *gate, const struct attach_view *view)
{
	for (size_t i = 0; i < gate->n; i++) {
		struct gate_view g = view_of(gate, i, view);

		gate_report_host_network(&g);
	}
}

/* Operations for which a container waits are first in the queue. */
static void mark_awaited(const struct attach_gate *gate)
{
	for (size_t i = 0; i < gate->n; i++) {
		struct attachment *a = attachments_of_id(&gate->engine->all, gate->resource,
							 gate->ids[i]);

		if (a)
			a->awaited = true;
	}
}

static bool gate_has_answer(struct waiter *w, const struct attach_view *view, struct err *err)
{
	const struct attach_gate *gate = (const struct attach_gate *)w;
	enum gate_answer now = gate_judge(gate, view, err);

	if (now == GATE_WAITS)
		mark_awaited(gate);
	if (now == GATE_OPENS) {
		opened(gate, view);
		*err = (struct err){0};
	}
	return now != GATE_WAITS;
}

static void gate_count(struct attach_engine *e, const struct attach_gate *gate, bool refused)
{
	struct attach_counters *c = &e->counters;
	uint64_t us = uv_hrtime() / 1000 - gate->since_us;

	c->gate_questions++;
	c->gate_refusals += refused;
	c->gate_us += us;
	c->gate_us_max = us > c->gate_us_max ? us : c->gate_us_max;
}

static void gate_answer(struct waiter *w, const struct err *err)
{
	struct attach_gate *gate = (struct attach_gate *)w;

	gate->engine->n_gates--;
	gate_count(gate->engine, gate, err->code < 0);
	gate->fn(err, gate->arg);
	free(gate);
}

void gates_request_lists(struct attach_engine *e)
{
	if (e->n_gates == 0)
		return;
	if (!e->lists_ms || engine_now(e) >= e->lists_ms + LISTS_MS) {
		e->lists_ms = engine_now(e);
		engine_request_lists(e);
	}
	engine_tick_at(e, e->lists_ms + LISTS_MS);
}

/* --- new requests ----------------------------------------------------------------------------- */

static struct attach_gate *gate_new(struct attach_engine *e, const char *resource,
				    struct id_list ids)
{
	struct attach_gate *g = calloc(1, sizeof(*g) + ids.n * sizeof(g->ids[0]));

	if (!g)
		return NULL;
	g->engine = e;
	g->waiter = (struct waiter){
		.look = gate_has_answer, .answer = gate_answer, .since_ms = engine_now(e)};
	g->since_us = uv_hrtime() / 1000;
	snprintf(g->resource, sizeof(g->resource), "%s", resource);
	for (g->n = 0; g->n < ids.n; g->n++)
		snprintf(g->ids[g->n], sizeof(g->ids[0]), "%s", ids.ids[g->n]);
	return g;
}

/* Retries failed attaches once more, and requests a check of devices with problems. */
static void gate_retry(const struct attach_gate *g)
{
	for (size_t i = 0; i < g->n; i++) {
		struct attachment *a = attachments_of_id(&g->engine->all, g->resource, g->ids[i]);

		if (a && (a->record.state == ATTACH_FREE || a->record.state == ATTACH_BAD))
			a->failure = (struct err){0};
		if (a && a->record.state == ATTACH_IN_POD && a->problem.code)
			a->check_now = true;
	}
}

static void gate_wait_for(struct attach_gate *g, const struct attach_view *view)
{
	struct attach_engine *e = g->engine;
	const struct pool *pool = view ? view_pool(view, g->resource) : NULL;
	const struct pool_network *network = pool ? pool->network : NULL;

	g->attached = !pool || network;
	g->waiter.deadline_ms = g->waiter.since_ms + (network && network->timeout_ms
							      ? network->timeout_ms
							      : POOL_ATTACH_MS);
	waiters_add(&e->waiters, &g->waiter);
	e->lists_ms = 0;
	gate_retry(g);
	engine_soon(e);
}

int attach_engine_gate(struct attach_engine *e, struct attach_gate **ret, const char *resource,
		       struct id_list ids, attach_gate_fn *fn, void *arg)
{
	struct attach_gate *g = gate_new(e, resource, ids);
	struct attach_view view;
	bool known = engine_view(e, &view);
	struct err err = {0};

	if (!g)
		return -ENOMEM;
	g->fn = fn;
	g->arg = arg;
	e->n_gates++;
	*ret = NULL;
	if (gate_judge(g, known ? &view : NULL, &err) == GATE_OPENS) {
		opened(g, &view);
		gate_answer(&g->waiter, &(struct err){0});
		return 0;
	}
	gate_wait_for(g, known ? &view : NULL);
	*ret = g;
	return 0;
}

void attach_gate_cancel(struct attach_gate *g)
{
	if (!g)
		return;
	waiters_remove(&g->engine->waiters, &g->waiter);
	g->engine->n_gates--;
	free(g);
}
