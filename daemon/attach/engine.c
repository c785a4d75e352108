/* engine.c - see engine.h.
 *
 * Happy path: something may have changed -> one tick: decide (decide.c) -> operations on workers
 * (operation.c) -> outcome -> the next tick answers whoever waits (gate.c, orders.c).
 * Can fail by: out of memory (tried again after a second), no journal (nothing is attached), no
 * runtime (what is not known is not concluded from). */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

#include "engine_state.h"
#include "log.h"
#include "pod_sandbox.h"

/* As the last resort, while anything is away from the host. */
#define LOOK_MS	 30000
/* While the host cannot be seen. */
#define BLIND_MS 1000

static void on_tick(uv_timer_t *);

void engine_wake(struct attach_engine *e, uint64_t in_ms)
{
	if (!e->closing &&
	    (!uv_is_active((uv_handle_t *)&e->timer) || uv_timer_get_due_in(&e->timer) > in_ms))
		uv_timer_start(&e->timer, on_tick, in_ms, 0);
}

void engine_decide_soon(struct attach_engine *e)
{
	engine_wake(e, 0);
}

void attach_engine_look(struct attach_engine *e)
{
	engine_decide_soon(e);
}

bool attach_engine_is_ready(const struct attach_engine *e)
{
	return e->ready;
}

/* --- the runtime ------------------------------------------------------------------------------ */

const struct sandbox_list *attach_engine_sandboxes(const struct attach_engine *e)
{
	static const struct sandbox_list unknown;

	return e->cri ? e->ops->cri_sandboxes(e->cri) : &unknown;
}

/* A device that is given away and in nobody's hands: its pod's sandbox is about to be. */
static bool is_reserved(const struct attach_view *view)
{
	for (size_t i = 0; i < view->held->n; i++) {
		const struct pod_device *d = &view->held->devices[i];
		const struct pool *pool;

		if (d->pod[0] || d->uid[0])
			continue;
		pool = view_pool(view, d->resource);
		if (pool && pool->network)
			return true;
	}
	return false;
}

/* Whose a new sandbox's devices are, the kubelet tells. */
static void ask_whose(struct attach_engine *e, const struct attach_view *view, uint64_t since_ms)
{
	if (!pod_sandbox_must_ask(view->held, attach_engine_sandboxes(e), since_ms))
		return;
	e->whose_ms = uv_now(e->loop);
	e->hooks.ask_pods(e->hooks.arg);
}

static void on_sandboxes(const struct sandbox_list *list, uint64_t asked_ms, void *arg)
{
	struct attach_engine *e = arg;
	struct attach_view view;

	(void)list;
	if (asked_ms)
		e->cri_asked_ms = asked_ms;
	if (asked_ms && e->hooks.view(&view, e->hooks.arg))
		ask_whose(e, &view, 0);
	engine_decide_soon(e);
}

static void expect_sandboxes(struct attach_engine *e, const struct attach_view *view)
{
	bool expecting = e->gates || (view && is_reserved(view));

	if (!e->cri || expecting == e->expecting)
		return;
	e->expecting = expecting;
	e->ops->cri_expect(e->cri, expecting);
}

void engine_ask(struct attach_engine *e)
{
	e->hooks.ask_pods(e->hooks.arg);
	if (e->cri)
		e->ops->cri_refresh(e->cri);
}

/* --- what is needed --------------------------------------------------------------------------- */

static bool attaches(const struct attach_view *view)
{
	for (size_t i = 0; i < view->pools->n_views; i++)
		if (view->pools->views[i].pool->network)
			return true;
	return false;
}

static void need_runtime(struct attach_engine *e)
{
	struct err err = {0};

	if (e->cri || e->ops->cri_open(&e->cri, e->loop, e->cri_socket, on_sandboxes, e, &err) == 0)
		return;
	e->cri = NULL;
	log_warn("attach", 0, "%s, trying again", err.msg);
	engine_wake(e, ENGINE_MEMORY_MS);
}

/* Neither a runtime nor a journal is touched where nothing is attached. */
static void open_what_is_needed(struct attach_engine *e, bool needed)
{
	if (needed)
		need_runtime(e);
	if ((needed || e->wants_journal) && !e->journal && !e->walk && !e->dry_run &&
	    uv_now(e->loop) >= e->journal_ms)
		journal_begin(e, true);
}

static void follow_readiness(struct attach_engine *e, const struct attach_view *view)
{
	bool late = uv_now(e->loop) >= e->opened_ms + ENGINE_START_MS;

	if (e->ready ||
	    !(attach_engine_sandboxes(e)->known || late || (!attaches(view) && e->n == 0)))
		return;
	if (!attach_engine_sandboxes(e)->known && !(!attaches(view) && e->n == 0))
		log_warn("attach", 0,
			 "the container runtime does not say which sandboxes there are, going on "
			 "without");
	e->ready = true;
	e->list_changed = true;
}

/* --- the tick --------------------------------------------------------------------------------- */

static void look_at_everything(struct attach_engine *e)
{
	uint64_t now = uv_now(e->loop);

	if (e->n > 0 && now >= e->look_ms + LOOK_MS) {
		e->look_ms = now;
		engine_ask(e);
	}
}

static void decide(struct attach_engine *e, const struct attach_view *view)
{
	bool needed = attaches(view) || e->n > 0 || e->early;

	open_what_is_needed(e, needed);
	ask_whose(e, view, e->whose_ms);
	if (!e->journal_read || (!engine_sees(e, needed) && needed))
		return;
	if (!engine_decide(e, view)) {
		log_warn("attach", -ENOMEM, "cannot decide what to attach, trying again");
		engine_wake(e, ENGINE_MEMORY_MS);
		return;
	}
	follow_readiness(e, view);
}

/* Of what is only done while the host can be seen. */
static uint64_t works_deadline(const struct attach_engine *e)
{
	uint64_t at = operations_deadline(e);

	at = earlier(at, outcome_deadline(e));
	at = earlier(at, upkeep_deadline(e));
	at = earlier(at, decide_deadline(e));
	return earlier(at, namespaces_deadline(e));
}

static void arm(struct attach_engine *e)
{
	uint64_t now = uv_now(e->loop), at = e->n ? e->look_ms + LOOK_MS : NEVER;

	at = earlier(at, gates_deadline(e));
	at = earlier(at, orders_deadline(e));
	if (!e->blind)
		at = earlier(at, works_deadline(e));
	else if (e->view_needed)
		at = earlier(at, now + BLIND_MS);
	if (!e->ready && e->opened_ms + ENGINE_START_MS > now)
		at = earlier(at, e->opened_ms + ENGINE_START_MS);
	if (at != NEVER)
		engine_wake(e, at > now ? at - now : 1);
}

static void publish(struct attach_engine *e)
{
	if (!e->list_changed)
		return;
	if (attachments_publish(e) < 0) {
		engine_wake(e, ENGINE_MEMORY_MS);
		return;
	}
	e->list_changed = false;
	e->hooks.changed(e->hooks.arg);
}

static void on_tick(uv_timer_t *timer)
{
	struct attach_engine *e = timer->data;
	struct attach_view view;
	bool known = e->hooks.view(&view, e->hooks.arg);

	operations_continue(e);
	if (!e->blind)
		outcome_retry(e);
	look_at_everything(e);
	if (known)
		decide(e, &view);
	orders_continue(e);
	if (!e->blind)
		upkeep(e);
	gates_ask(e);
	gates_look(e, known ? &view : NULL);
	expect_sandboxes(e, known ? &view : NULL);
	publish(e);
	arm(e);
}

/* --- life ------------------------------------------------------------------------------------- */

static void engine_free(struct attach_engine *e)
{
	attachments_free(e);
	desired_list_done(&e->desired);
	free(e->state_dir);
	free(e->cni_path);
	free(e->cri_socket);
	if (e->journal)
		e->ops->journal_close(e->journal);
	free(e);
}

void engine_release_if_done(struct attach_engine *e)
{
	if (e->closed && e->n_working == 0 && !e->walk && !e->search)
		engine_free(e);
}

static char *copy(const char *s)
{
	return strdup(s ? s : "");
}

static int copy_opts(struct attach_engine *e, const struct attach_engine_opts *o)
{
	e->state_dir = copy(o->state_dir);
	e->cni_path = copy(o->cni_path);
	e->cri_socket = copy(o->cri_socket);
	e->dry_run = o->dry_run;
	e->ops = o->ops ? o->ops : &attach_real_ops;
	return e->state_dir && e->cni_path && e->cri_socket ? 0 : -ENOMEM;
}

int attach_engine_open(struct attach_engine **ret, struct uv_loop_s *loop, const struct hw *hw,
		       const struct inventory *inventory, const struct attach_engine_opts *opts,
		       const struct attach_hooks *hooks, struct err *err)
{
	struct attach_engine *e = calloc(1, sizeof(*e));

	if (!e)
		return err_set(err, -ENOMEM, "attach: out of memory");
	if (copy_opts(e, opts) < 0) {
		engine_free(e);
		return err_set(err, -ENOMEM, "attach: out of memory");
	}
	e->loop = loop;
	e->hw = hw;
	e->inventory = inventory;
	e->hooks = *hooks;
	e->blind = true;
	e->opened_ms = e->look_ms = uv_now(loop);
	uv_timer_init(loop, &e->timer);
	e->timer.data = e;
	journal_begin(e, false);
	engine_decide_soon(e);
	*ret = e;
	return 0;
}

static void on_timer_closed(uv_handle_t *handle)
{
	struct attach_engine *e = handle->data;

	e->closed = true;
	engine_release_if_done(e);
}

void attach_engine_close(struct attach_engine *e)
{
	if (!e)
		return;
	e->closing = true;
	gates_close(e);
	orders_continue(e);
	for (size_t i = 0; i < e->n; i++)
		orders_tell(e->items[i]);
	operations_close(e);
	if (e->cri)
		e->ops->cri_close(e->cri);
	e->cri = NULL;
	uv_close((uv_handle_t *)&e->timer, on_timer_closed);
}
