#include "event_watch.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "reply.h"

static void waiter_done(struct event_waiter *w)
{
	free(w->pod);
	free(w->device);
}

static void event_watch_answer_waiter(struct event_waiter *w, const struct event_ring *ring)
{
	struct http_reply reply = {0};
	size_t len = 0;

	if (!http_has_left(w->deferred))
		reply_document(&reply, api_events(ring, &w->filter, &len));
	http_answer(w->deferred, &reply);
	waiter_done(w);
}

/* Those for whom there are events, whose time is over, or who have left. When the next one's is. */
static uint64_t event_watch_answer_waiters(struct event_watch *watch, uint64_t now_ms)
{
	uint64_t next = DUE_NEVER;
	size_t n = 0;

	for (size_t i = 0; i < watch->n; i++) {
		struct event_waiter w = watch->items[i];

		if (w.until_ms <= now_ms || http_has_left(w.deferred) ||
		    api_events_any(watch->ring, &w.filter)) {
			event_watch_answer_waiter(&w, watch->ring);
			continue;
		}
		next = w.until_ms < next ? w.until_ms : next;
		watch->items[n++] = w;
	}
	watch->n = n;
	if (n == 0)
		free(take_ptr(watch->items));
	return next;
}

static void event_watch_on_due(void *arg)
{
	struct event_watch *w = arg;

	due_at(&w->due, event_watch_answer_waiters(w, uv_now(w->due.timer.loop)));
}

int event_watch_wait(struct event_watch *watch, struct http_deferred *deferred,
		     const struct event_filter *filter, uint64_t until_ms)
{
	struct event_waiter w = {.deferred = deferred, .filter = *filter, .until_ms = until_ms};
	struct event_waiter *slot;

	w.filter.pod = w.pod = filter->pod ? strdup(filter->pod) : NULL;
	w.filter.device = w.device = filter->device ? strdup(filter->device) : NULL;
	slot = !w.pod == !filter->pod && !w.device == !filter->device
		       ? array_push(watch->items, watch->n)
		       : NULL;
	if (!slot) {
		waiter_done(&w);
		return -ENOMEM;
	}
	*slot = w;
	http_keep(deferred);
	due_in(&watch->due, 0);
	return 0;
}

void event_watch_wake(struct event_watch *w)
{
	if (w && w->n > 0)
		due_in(&w->due, 0);
}

int event_watch_open(struct event_watch **ret, struct uv_loop_s *loop,
		     const struct event_ring *ring, struct err *e)
{
	struct event_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return err_set(e, -ENOMEM, "out of memory");
	w->ring = ring;
	due_init(&w->due, loop, event_watch_on_due, w);
	*ret = w;
	return 0;
}

void event_watch_close(struct event_watch *w)
{
	if (!w)
		return;
	event_watch_answer_waiters(w, UINT64_MAX);
	due_close(&w->due, free);
}
