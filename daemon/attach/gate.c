/* gate.c - the kubelet asks before it makes a container, and waits: until every device is in the
 * pod that holds it, until that cannot be, or until its time is up; then with what is missing. */
#include <stdlib.h>
#include <string.h>

#include "engine_state.h"
#include "gate_device.h"

/* Answers get lost; while somebody waits, it is asked again. */
#define ASK_MS 1000

struct attach_gate {
	struct attach_gate *next;
	struct attach_engine *engine;
	attach_gate_fn *fn;
	void *arg;
	uint64_t since_ms, since_us, deadline_ms;
	uint32_t timeout_ms;
	bool attached; /* its pool attached when it was asked */
	char resource[RESOURCE_NAME_SIZE];
	size_t n;
	char ids[][PLUGIN_ID_SIZE];
};

/* --- one question ----------------------------------------------------------------------------- */

static struct gate_view view_of(const struct attach_gate *gate, size_t i,
				const struct attach_view *view)
{
	return (struct gate_view){gate->engine, view,		gate->resource,
				  gate->ids[i], gate->since_ms, gate->attached};
}

/* One refusal refuses all; err: that, or what the last that waits lacks. */
static enum gate_answer look(const struct attach_gate *gate, const struct attach_view *view,
			     struct err *err)
{
	enum gate_answer all = GATE_OPENS;

	for (size_t i = 0; i < gate->n; i++) {
		struct gate_view g = view_of(gate, i, view);
		enum gate_answer one = gate_look(&g, err);

		if (one == GATE_REFUSES)
			return one;
		if (one == GATE_WAITS)
			all = one;
	}
	return all;
}

static void count(struct attach_engine *e, const struct attach_gate *gate, bool refused)
{
	struct attach_counters *c = &e->counters;
	uint64_t us = uv_hrtime() / 1000 - gate->since_us;

	c->gate_questions++;
	c->gate_refusals += refused;
	c->gate_us += us;
	c->gate_us_max = us > c->gate_us_max ? us : c->gate_us_max;
}

/* Frees it. */
static void answer(struct attach_gate *gate, const struct err *err)
{
	count(gate->engine, gate, err->code < 0);
	gate->fn(err, gate->arg);
	free(gate);
}

static void too_late(const struct attach_gate *gate, struct err *err)
{
	size_t n = strlen(err->msg);

	err->code = -ETIMEDOUT;
	snprintf(err->msg + n, sizeof(err->msg) - n, " (waited %u ms)", gate->timeout_ms);
}

static void opened(const struct attach_gate *gate, const struct attach_view *view)
{
	for (size_t i = 0; i < gate->n; i++) {
		struct gate_view g = view_of(gate, i, view);

		gate_tell_host_network(&g);
	}
}

static bool has_answer(const struct attach_gate *gate, const struct attach_view *view,
		       struct err *err)
{
	*err = (struct err){0};
	switch (look(gate, view, err)) {
	case GATE_OPENS:
		opened(gate, view);
		*err = (struct err){0};
		return true;
	case GATE_REFUSES:
		return true;
	case GATE_WAITS:
		break;
	}
	if (uv_now(gate->engine->loop) < gate->deadline_ms)
		return false;
	too_late(gate, err);
	return true;
}

/* --- all of them ------------------------------------------------------------------------------ */

/* Who is told may ask, or cancel another question: from the start again after each answer. */
void gates_look(struct attach_engine *e, const struct attach_view *view)
{
	struct attach_gate **at = &e->gates;
	struct err err;

	while (*at) {
		struct attach_gate *gate = *at;

		if (!has_answer(gate, view, &err)) {
			at = &gate->next;
			continue;
		}
		*at = gate->next;
		answer(gate, &err);
		at = &e->gates;
	}
}

void gates_ask(struct attach_engine *e)
{
	uint64_t now = uv_now(e->loop);

	if (!e->gates || (e->ask_ms && now < e->ask_ms + ASK_MS))
		return;
	e->ask_ms = now;
	engine_ask(e);
}

uint64_t gates_deadline(const struct attach_engine *e)
{
	uint64_t first = e->gates ? e->ask_ms + ASK_MS : NEVER;

	for (const struct attach_gate *g = e->gates; g; g = g->next)
		first = earlier(first, g->deadline_ms);
	return first;
}

bool gates_await(const struct attach_engine *e, const struct attach_record *r)
{
	for (const struct attach_gate *g = e->gates; g; g = g->next)
		for (size_t i = 0; i < g->n && strcmp(g->resource, r->resource) == 0; i++)
			if (strcmp(g->ids[i], r->id) == 0)
				return true;
	return false;
}

void gates_close(struct attach_engine *e)
{
	struct err err;

	err_set(&err, -ECANCELED, "rocelet is stopping");
	while (e->gates) {
		struct attach_gate *gate = e->gates;

		e->gates = gate->next;
		answer(gate, &err);
	}
}

/* --- asking ----------------------------------------------------------------------------------- */

static struct attach_gate *gate_new(struct attach_engine *e, const char *resource,
				    struct id_list ids)
{
	struct attach_gate *g = calloc(1, sizeof(*g) + ids.n * sizeof(g->ids[0]));

	if (!g)
		return NULL;
	g->engine = e;
	g->since_ms = uv_now(e->loop);
	g->since_us = uv_hrtime() / 1000;
	snprintf(g->resource, sizeof(g->resource), "%s", resource);
	for (g->n = 0; g->n < ids.n; g->n++)
		snprintf(g->ids[g->n], sizeof(g->ids[0]), "%s", ids.ids[g->n]);
	return g;
}

/* What failed before is tried once more. */
static void ask_anew(const struct attach_gate *g)
{
	for (size_t i = 0; i < g->n; i++) {
		struct attachment *a = attachment_of_id(g->engine, g->resource, g->ids[i]);

		if (a && (a->record.state == ATTACH_FREE || a->record.state == ATTACH_BAD))
			a->failure = (struct err){0};
		if (a && a->record.state == ATTACH_IN_POD && a->trouble.code)
			a->check_now = true;
	}
}

static void wait_for(struct attach_gate *g, const struct attach_view *view)
{
	struct attach_engine *e = g->engine;
	const struct pool *pool = view ? view_pool(view, g->resource) : NULL;

	g->attached = !pool || pool->network;
	g->timeout_ms = pool && pool->network && pool->network->timeout_ms
				? pool->network->timeout_ms
				: POOL_ATTACH_MS;
	g->deadline_ms = g->since_ms + g->timeout_ms;
	g->next = e->gates;
	e->gates = g;
	e->ask_ms = 0;
	ask_anew(g);
	engine_decide_soon(e);
}

int attach_engine_gate(struct attach_engine *e, struct attach_gate **ret, const char *resource,
		       struct id_list ids, attach_gate_fn *fn, void *arg)
{
	struct attach_gate *g = gate_new(e, resource, ids);
	struct attach_view view;
	bool known = e->hooks.view(&view, e->hooks.arg);
	struct err err = {0};

	if (!g)
		return -ENOMEM;
	g->fn = fn;
	g->arg = arg;
	*ret = NULL;
	if (look(g, known ? &view : NULL, &err) == GATE_OPENS) {
		opened(g, &view);
		answer(g, &(struct err){0});
		return 0;
	}
	wait_for(g, known ? &view : NULL);
	*ret = g;
	return 0;
}

void attach_gate_cancel(struct attach_gate *g)
{
	struct attach_gate **at;

	if (!g)
		return;
	for (at = &g->engine->gates; *at != g;)
		at = &(*at)->next;
	*at = g->next;
	free(g);
}
