// SPDX-License-Identifier: Apache-2.0
#include "live_watch.h"

#include <stdlib.h>

#include "reply.h"

struct live_answer {
	struct live_cache *cache;
	struct live_input input;
};

static bool live_watch_answer(void *item, bool over, void *arg)
{
	const struct live_waiter *w = item;
	struct live_answer *a = arg;
	struct http_reply reply = {0};
	size_t len = 0;

	if (!over && !api_live_any(&a->input, &w->query))
		return false;
	if (!http_client_disconnected(w->item.deferred))
		reply_document(&reply, api_live(a->cache, &a->input, &w->query, &len));
	http_answer(w->item.deferred, &reply);
	return true;
}

static void live_watch_settle(struct live_watch *w, bool all_over)
{
	struct live_answer a = {.cache = &w->cache};

	w->fill(&a.input, uv_now(w->waiters.timer.handle.loop), w->fill_arg);
	deferred_list_settle(&w->waiters, all_over, live_watch_answer, &a);
}

static void live_watch_on_timer(void *arg)
{
	live_watch_settle(arg, false);
}

int live_watch_wait(struct live_watch *watch, struct http_deferred *deferred,
		    const struct live_query *query, uint64_t until_ms)
{
	struct live_waiter *slot = deferred_list_add(&watch->waiters, deferred, until_ms);

	if (!slot)
		return -ENOMEM;
	slot->query = *query;
	deferred_list_wake(&watch->waiters, 0);
	return 0;
}

void live_watch_sample(struct live_watch *w)
{
	if (w)
		deferred_list_wake(&w->waiters, 0);
}

void live_watch_event(struct live_watch *w)
{
	if (w)
		deferred_list_wake(&w->waiters, LIVE_EVENT_WAIT_MS);
}

int live_watch_open(struct live_watch **ret, struct uv_loop_s *loop, live_fill_fn *fill,
		    void *fill_arg, struct err *e)
{
	struct live_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return err_set(e, -ENOMEM, "out of memory");
	w->fill = fill;
	w->fill_arg = fill_arg;
	deferred_list_init(&w->waiters, loop, sizeof(struct live_waiter), live_watch_on_timer, w);
	*ret = w;
	return 0;
}

static void free_watch(void *watch)
{
	struct live_watch *w = watch;

	live_cache_done(&w->cache);
	free(w);
}

void live_watch_close(struct live_watch *w)
{
	if (!w)
		return;
	live_watch_settle(w, true);
	deferred_list_close(&w->waiters, free_watch);
}
