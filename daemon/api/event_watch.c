// SPDX-License-Identifier: Apache-2.0
#include "event_watch.h"

#include <stdlib.h>
#include <string.h>

#include "reply.h"

static void waiter_done(struct event_waiter *w)
{
	free(w->pod);
	free(w->device);
	free(w->reason);
}

static bool event_watch_answer(void *item, bool over, void *ring)
{
	struct event_waiter *w = item;
	struct http_reply reply = {0};
	size_t len = 0;

	if (!over && !api_events_any(ring, &w->filter))
		return false;
	if (!http_client_disconnected(w->item.deferred))
		reply_document(&reply, api_events(ring, &w->filter, &len));
	http_answer(w->item.deferred, &reply);
	waiter_done(w);
	return true;
}

static void event_watch_settle(struct event_watch *w, bool all_over)
{
	deferred_list_settle(&w->waiters, all_over, event_watch_answer, (void *)w->ring);
}

static void event_watch_on_timer(void *arg)
{
	event_watch_settle(arg, false);
}

int event_watch_wait(struct event_watch *watch, struct http_deferred *deferred,
		     const struct event_filter *filter, uint64_t until_ms)
{
	struct event_waiter w = {.filter = *filter}, *slot;

	w.filter.pod = w.pod = filter->pod ? strdup(filter->pod) : NULL;
	w.filter.device = w.device = filter->device ? strdup(filter->device) : NULL;
	w.filter.reason = w.reason = filter->reason ? strdup(filter->reason) : NULL;
	slot = !w.pod == !filter->pod && !w.device == !filter->device &&
			       !w.reason == !filter->reason
		       ? deferred_list_add(&watch->waiters, deferred, until_ms)
		       : NULL;
	if (!slot) {
		waiter_done(&w);
		return -ENOMEM;
	}
	w.item = slot->item;
	*slot = w;
	event_watch_wake(watch);
	return 0;
}

void event_watch_wake(struct event_watch *w)
{
	if (w)
		deferred_list_wake(&w->waiters, 0);
}

int event_watch_open(struct event_watch **ret, struct uv_loop_s *loop,
		     const struct event_ring *ring, struct err *e)
{
	struct event_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return err_set(e, -ENOMEM, "out of memory");
	w->ring = ring;
	deferred_list_init(&w->waiters, loop, sizeof(struct event_waiter), event_watch_on_timer, w);
	*ret = w;
	return 0;
}

void event_watch_close(struct event_watch *w)
{
	if (!w)
		return;
	event_watch_settle(w, true);
	deferred_list_close(&w->waiters, free);
}
