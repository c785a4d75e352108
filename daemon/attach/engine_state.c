// SPDX-License-Identifier: Apache-2.0
/* engine_state.c - the engine's timer, its view of pools and allocations, and freeing it. */
#include "engine_state.h"

#include <stdlib.h>

/* A tick sets the timer when it ends, so within a tick only the time is recorded. */
void engine_tick_at(struct attach_engine *e, uint64_t at_ms)
{
	if (e->closing || at_ms >= e->due_ms)
		return;
	e->due_ms = at_ms;
	if (!e->ticking)
		timer_at(&e->tick, at_ms);
}

void engine_soon(struct attach_engine *e)
{
	engine_tick_at(e, engine_now(e));
}

void engine_ask(struct attach_engine *e)
{
	if (e->holders)
		e->ops->ask(e->holders);
}

bool engine_view(const struct attach_engine *e, struct attach_view *ret)
{
	if (!e->pools || !e->holders)
		return false;
	*ret = (struct attach_view){.pools = e->pools, .held = e->ops->held(e->holders)};
	return true;
}

const struct sandbox_list *engine_sandboxes(const struct attach_engine *e)
{
	static const struct sandbox_list unknown;

	return e->holders ? e->ops->sandboxes(e->holders) : &unknown;
}

int engine_refuse_blind(const struct attach_engine *e, struct err *err)
{
	const char *why = e->counters.view_error;

	return e->blind ? err_set(err, -EAGAIN, "nothing is attached or returned: %s",
				  why[0] ? why : "rocelet is still starting")
			: 0;
}

const struct pool *view_pool(const struct attach_view *view, const char *resource)
{
	const struct pool_view *p = pools_find(view->pools, resource);

	return p ? p->pool : NULL;
}

static void engine_free(struct attach_engine *e)
{
	attachments_done(&e->all);
	desired_list_done(&e->desired);
	free(e->state_dir);
	if (e->journal) {
		e->ops->journal_sweep(e->journal);
		e->ops->journal_close(e->journal);
	}
	free(e);
}

void engine_release_if_done(struct attach_engine *e)
{
	if (e->closed && e->n_working + e->n_stuck == 0 && !e->walk && !e->probed && !e->search)
		engine_free(e);
}
