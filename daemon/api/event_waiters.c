#include "event_waiters.h"

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

int event_waiters_add(struct event_waiters *ws, struct http_deferred *deferred,
		      const struct event_filter *filter, uint64_t until_ms)
{
	struct event_waiter w = {.deferred = deferred, .filter = *filter, .until_ms = until_ms};
	struct event_waiter *slot;

	w.filter.pod = w.pod = filter->pod ? strdup(filter->pod) : NULL;
	w.filter.device = w.device = filter->device ? strdup(filter->device) : NULL;
	slot = !w.pod == !filter->pod && !w.device == !filter->device ? array_push(ws->items, ws->n)
								      : NULL;
	if (!slot) {
		waiter_done(&w);
		return -ENOMEM;
	}
	*slot = w;
	http_keep(deferred);
	if (ws->added)
		ws->added(ws->arg);
	return 0;
}

static void answer(struct event_waiter *w, const struct event_ring *ring)
{
	struct http_reply reply = {0};
	size_t len = 0;

	if (!http_has_left(w->deferred))
		reply_document(&reply, api_events(ring, &w->filter, &len));
	http_answer(w->deferred, &reply);
	waiter_done(w);
}

uint64_t event_waiters_look(struct event_waiters *ws, const struct event_ring *ring,
			    uint64_t now_ms)
{
	uint64_t next = UINT64_MAX;
	size_t n = 0;

	for (size_t i = 0; i < ws->n; i++) {
		struct event_waiter w = ws->items[i];

		if (w.until_ms <= now_ms || http_has_left(w.deferred) ||
		    api_events_any(ring, &w.filter)) {
			answer(&w, ring);
			continue;
		}
		next = w.until_ms < next ? w.until_ms : next;
		ws->items[n++] = w;
	}
	ws->n = n;
	if (n == 0)
		free(take_ptr(ws->items));
	return next;
}
