/* gate.c - the kubelet asks before it makes a container, and waits: until every device is in the
 * pod that holds it, until that cannot be, or until its time is up; then with what is missing. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine_state.h"

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

enum gate_answer { GATE_WAITS, GATE_OPENS, GATE_REFUSES };

/* --- one device ------------------------------------------------------------------------------- */

/* What one device is looked at with. */
struct gate_view {
	const struct attach_engine *engine;
	const struct attach_view *view;
	const char *resource, *id;
	uint64_t since_ms;
	bool attached;
};

/* Who has it as the kubelet says; NULL: it does not say. */
static const struct pod_device *holder(const struct gate_view *g)
{
	size_t n = 0;
	const struct pod_device *d = pod_list_find(g->view->held, g->resource, g->id, &n);

	for (size_t i = 0; i < n; i++)
		if (d[i].pod[0] || d[i].uid[0])
			return &d[i];
	return NULL;
}

/* A look at the clock may be off by a little. */
#define CLOCK_SLACK_NS INT64_C(1000000)

/* Given away anew since it was attached: to another pod, of the same name perhaps. */
static bool is_given_anew(const struct attachment *a, const struct pod_device *d)
{
	uint64_t ago_ns = uv_hrtime() - a->since_ms * 1000000;
	struct timespec now;

	if (!d->reserved_ns || !a->since_ms)
		return d->reserved_ns != 0;
	clock_gettime(CLOCK_REALTIME, &now);
	return d->reserved_ns - CLOCK_SLACK_NS >
	       (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - (int64_t)ago_ns;
}

/* It was attached to the sandbox of the pod that the kubelet means. */
static bool is_sandbox(const struct attach_engine *e, const struct attachment *a,
		       const struct pod_device *d)
{
	const struct sandbox_list *sandboxes = attach_engine_sandboxes(e);
	const struct sandbox *s = join_sandbox(sandboxes, d);

	if (!sandboxes->known)
		return !is_given_anew(a, d);
	return s && strcmp(s->id, a->record.owner.sandbox) == 0;
}

static bool is_there(const struct attach_engine *e, const struct attachment *a,
		     const struct pod_device *d)
{
	const struct attach_owner *o = &a->record.owner;

	return a->record.state == ATTACH_IN_POD && held_by(d, o) && is_sandbox(e, a, d) &&
	       !a->why && a->trouble.code != -ENODEV &&
	       (a->doubt_ms == 0 || e->cri_asked_ms > a->doubt_ms) &&
	       e->ops->netns_is_alive(e->hw, &o->netns);
}

static void no_sandbox(const struct attach_engine *e, const struct pod_device *d, struct err *err)
{
	struct cri_status status = {.error = ""};

	if (attach_engine_sandboxes(e)->known) {
		err_set(err, -ETIMEDOUT, "no sandbox of pod %s/%s yet", d->namespace,
			d->pod[0] ? d->pod : d->uid);
		return;
	}
	if (e->cri)
		e->ops->cri_status(e->cri, &status);
	err_set(err, -ETIMEDOUT, "the container runtime does not answer: %s",
		status.error[0] ? status.error : "no socket of one was found");
}

/* What an attachment waits for. */
static void not_yet(const struct attachment *a, struct err *err)
{
	const struct attach_record *r = &a->record;
	char owner[OWNER_TEXT_SIZE];

	if (r->state == ATTACH_BAD)
		err_set(err, -ETIMEDOUT, "%s could not be cleaned: %s", r->function,
			a->trouble.msg);
	else if (r->state == ATTACH_ATTACHING)
		err_set(err, -ETIMEDOUT, "%s is still being attached, step %s", r->function,
			a->op ? operation_step(a->op) : "none");
	else if (r->state == ATTACH_IN_POD && a->trouble.code == -ENODEV)
		err_set(err, -ETIMEDOUT, "%s", a->trouble.msg);
	else
		err_set(err, -ETIMEDOUT, "%s is still with %s, or on its way back", r->function,
			owner_text(&r->owner, owner));
}

static enum gate_answer refuse(const struct err *why, struct err *err)
{
	*err = *why;
	return GATE_REFUSES;
}

static bool has_host_network(const struct sandbox *s)
{
	return s && s->detailed && s->host_network;
}

static enum gate_answer look_held(const struct gate_view *g, const struct pod_device *d,
				  struct err *err)
{
	const struct attach_engine *e = g->engine;
	const struct attachment *a = attachment_of_id(e, g->resource, g->id);
	const struct wanted *w = wanted_find(&e->wanted, g->resource, g->id);
	const struct sandbox *s = join_sandbox(attach_engine_sandboxes(e), d);
	bool fresh = e->cri_asked_ms >= g->since_ms;

	if (a && is_there(e, a, d))
		return GATE_OPENS;
	if (fresh && has_host_network(s))
		return GATE_OPENS;
	if (a && a->failure.code &&
	    (a->record.state == ATTACH_FREE || a->record.state == ATTACH_BAD))
		return refuse(&a->failure, err);
	if (w && w->err.code && fresh)
		return refuse(&w->err, err);
	if (w && w->err.code)
		*err = w->err;
	else if (a && a->record.state != ATTACH_FREE)
		not_yet(a, err);
	else
		no_sandbox(e, d, err);
	return GATE_WAITS;
}

/* Its configuration has changed meanwhile: nobody brings what was waited for. */
static enum gate_answer no_pool(const struct gate_view *g, struct err *err)
{
	err_set(err, -ECANCELED, "%s is not attached to pods any more", g->resource);
	return GATE_REFUSES;
}

static enum gate_answer look_one(const struct gate_view *g, struct err *err)
{
	const char *journal = g->engine->counters.journal_error;
	const struct pod_device *d;
	const struct pool *pool;

	if (!g->view || !g->engine->journal_read) {
		err_set(err, -ETIMEDOUT, "rocelet is still starting%s%s", journal[0] ? ": " : "",
			journal);
		return GATE_WAITS;
	}
	pool = view_pool(g->view, g->resource);
	if (!pool || !pool->network)
		return g->attached ? no_pool(g, err) : GATE_OPENS;
	d = holder(g);
	if (d)
		return look_held(g, d, err);
	err_set(err, -ETIMEDOUT, "the kubelet does not say yet which pod has %s of %s", g->id,
		g->resource);
	return GATE_WAITS;
}

/* The container starts: it sees the host's netdevs as they are. */
static void tell_host_network(struct attach_engine *e, const struct gate_view *g)
{
	const struct host *host = &e->inventory->host;
	struct attach_record r = {.state = ATTACH_FREE};
	const struct pool *pool = view_pool(g->view, g->resource);
	const struct pod_device *d = pool && pool->network ? holder(g) : NULL;
	const struct sandbox *s = d ? join_sandbox(attach_engine_sandboxes(e), d) : NULL;
	char device[DEVICE_TEXT_SIZE];

	if (!has_host_network(s))
		return;
	snprintf(r.resource, sizeof(r.resource), "%s", g->resource);
	snprintf(r.id, sizeof(r.id), "%s", g->id);
	if (host_function(host, g->id))
		snprintf(r.function, sizeof(r.function), "%s", g->id);
	memcpy(r.owner.namespace, s->namespace, sizeof(r.owner.namespace));
	memcpy(r.owner.pod, s->pod, sizeof(r.owner.pod));
	memcpy(r.owner.uid, s->uid, sizeof(r.owner.uid));
	engine_event(
		e, EVENT_WARNING, "HostNetwork", &r,
		"pod %s/%.63s uses the host's network: %s stays in the host, the container gets "
		"its device nodes and nothing else",
		s->namespace, s->pod, device_text(&r, device));
}

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
		enum gate_answer one = look_one(&g, err);

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

		tell_host_network(gate->engine, &g);
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
