// SPDX-License-Identifier: Apache-2.0
/* engine_state.c - the engine's timer, its view of pools and allocations, and freeing it. */
#include "engine_state.h"

#include <stdlib.h>
#include <string.h>

#include "attach_events.h"
#include "log.h"
#include "observe.h"

/* Checks whether the host is visible. If parts of it are hidden, a hidden device would look
 * like a missing one, so nothing is attached or returned.
 *
 * The runtime or a mount may be missing at our start and appear later, so the check is repeated. */

/* Interval of the checks while parts of the host are hidden, and while none are. */
#define BLIND_MS  1000
#define SEEING_MS 30000

static void engine_report(struct attach_engine *e, const char *missing)
{
	char *reported = e->counters.view_error;

	if (strcmp(reported, missing) == 0)
		return;
	if (missing[0])
		engine_event(e, EVENT_WARNING, "Blind", NULL,
			     "%s Until then nothing is attached or returned", missing);
	else if (reported[0])
		log_info("attach", 0, "the host is visible now");
	snprintf(reported, sizeof(e->counters.view_error), "%s", missing);
}

/* Checks the host, including the runtime's socket if that is known: it is once the runtime has
 * answered, or if it was configured. */
static int engine_judge(struct attach_engine *e, struct err *err)
{
	struct cri_status status = {.socket = ""};

	if (e->holders)
		e->ops->runtime(e->holders, &status);
	return e->ops->check_host(e->hw, status.socket, err);
}

static void engine_check_view(struct attach_engine *e, bool needed)
{
	const bool early = engine_now(e) < e->opened_ms + ENGINE_START_MS;
	struct err err = {0};

	e->blind = engine_judge(e, &err) < 0;
	e->view_ms = engine_now(e) + (e->blind ? BLIND_MS : SEEING_MS);
	if (needed && !(err.code == -EAGAIN && early))
		engine_report(e, err.code ? err.msg : "");
}

bool engine_sees(struct attach_engine *e, bool needed)
{
	if (e->blind || engine_now(e) >= e->view_ms)
		engine_check_view(e, needed);
	if (e->blind && needed)
		engine_tick_at(e, e->view_ms);
	return !e->blind;
}

/* Attachments and counters for readers outside of the engine. */

bool attach_engine_is_ready(const struct attach_engine *e)
{
	return e->ready;
}

size_t attach_engine_list(const struct attach_engine *e, const struct attach_status **ret)
{
	*ret = e->all.list.items;
	return e->all.list.n;
}

const struct attach_status *attach_engine_find(const struct attach_engine *e, const char *function)
{
	struct attachment *a = attachments_of_function(&e->all, function);

	return a && a->record.state != ATTACH_FREE ? attachment_status(a) : NULL;
}

/* Is the device allocated to the attachment's pod? True if unknown. Also true for a reservation,
 * which may be for a container of the same pod. PreStartContainer decides that later. */
static bool is_holders(const struct attach_engine *e, const struct attachment *a)
{
	struct attach_view view;
	const struct pod_device *d;

	if (!engine_view(e, &view) || view.held->source == POD_SOURCE_NONE)
		return true;
	d = pod_list_find(view.held, a->record.resource, a->record.id, NULL);
	return d && (d->pod[0] == '\0' || (strcmp(d->pod, a->record.owner.pod) == 0 &&
					   strcmp(d->namespace, a->record.owner.namespace) == 0));
}

enum attach_fitness attach_engine_fitness(const struct attach_engine *e, const char *function)
{
	const struct attachment *a = attachments_of_function(&e->all, function);

	switch (a ? a->record.state : ATTACH_FREE) {
	case ATTACH_FREE:
		break;
	case ATTACH_ATTACHING:
	case ATTACH_IN_POD:
		if (!attachment_is_granted(a) || a->drift & ATTACH_DRIFT_RDMA)
			return ATTACH_UNFIT;
		return is_holders(e, a) ? ATTACH_FIT : ATTACH_LEAVING;
	case ATTACH_RETURNING:
	case ATTACH_BAD:
		return attachment_has_problem(a) ? ATTACH_UNFIT : ATTACH_LEAVING;
	}
	return ATTACH_FIT;
}

void attach_engine_counters(const struct attach_engine *e, struct attach_counters *ret)
{
	unsigned *const of_state[] = {
		[ATTACH_FREE] = &ret->free,	[ATTACH_ATTACHING] = &ret->attaching,
		[ATTACH_IN_POD] = &ret->in_pod, [ATTACH_RETURNING] = &ret->returning,
		[ATTACH_BAD] = &ret->bad,
	};

	*ret = e->counters;
	for (size_t i = 0; i < e->all.n; i++)
		++*of_state[e->all.items[i]->record.state];
	ret->cri_open = e->holders && e->ops->runtime(e->holders, &ret->cri);
}

/* A tick sets the timer when it ends, so within a tick only the time is recorded. */
void engine_tick_at(struct attach_engine *e, uint64_t at_ms)
{
	if (e->closing || at_ms >= e->tick_ms)
		return;
	e->tick_ms = at_ms;
	if (!e->ticking)
		timer_at(&e->tick, at_ms);
}

void engine_soon(struct attach_engine *e)
{
	engine_tick_at(e, engine_now(e));
}

void engine_request_lists(struct attach_engine *e)
{
	if (e->holders)
		e->ops->request_lists(e->holders);
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

int engine_check_visible(const struct attach_engine *e, struct err *err)
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
