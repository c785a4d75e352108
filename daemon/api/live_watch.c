#include "live_watch.h"

#include <stdlib.h>

#include "array.h"
#include "cleanup.h"
#include "reply.h"

static void live_watch_answer_waiter(struct live_watch *watch, const struct live_waiter *w,
				     const struct live_scene *scene)
{
	struct http_reply reply = {0};
	size_t len = 0;

	if (!http_has_left(w->deferred))
		reply_document(&reply, api_live(&watch->cache, scene, &w->question, &len));
	http_answer(w->deferred, &reply);
}

/* Those for whom there is something, whose time is over, or who have left. When the next one's is.
 */
static uint64_t live_watch_answer_waiters(struct live_watch *watch, uint64_t now_ms, bool all)
{
	uint64_t next = DUE_NEVER;
	struct live_scene scene = {0};
	size_t n = 0;

	watch->look(&scene, now_ms, watch->look_arg);
	for (size_t i = 0; i < watch->n; i++) {
		struct live_waiter w = watch->items[i];

		if (all || w.until_ms <= now_ms || http_has_left(w.deferred) ||
		    api_live_any(&scene, &w.question)) {
			live_watch_answer_waiter(watch, &w, &scene);
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

static void live_watch_on_due(void *arg)
{
	struct live_watch *w = arg;

	due_at(&w->due, live_watch_answer_waiters(w, uv_now(w->due.timer.loop), false));
}

int live_watch_wait(struct live_watch *watch, struct http_deferred *deferred,
		    const struct live_question *question, uint64_t until_ms)
{
	struct live_waiter *slot = array_push(watch->items, watch->n);

	if (!slot)
		return -ENOMEM;
	*slot = (struct live_waiter){deferred, *question, until_ms};
	http_keep(deferred);
	due_in(&watch->due, 0);
	return 0;
}

void live_watch_sample(struct live_watch *w)
{
	if (w && w->n > 0)
		due_in(&w->due, 0);
}

void live_watch_event(struct live_watch *w)
{
	if (w && w->n > 0)
		due_within(&w->due, LIVE_EVENT_WAIT_MS);
}

int live_watch_open(struct live_watch **ret, struct uv_loop_s *loop, live_look_fn *look,
		    void *look_arg, struct err *e)
{
	struct live_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return err_set(e, -ENOMEM, "out of memory");
	w->look = look;
	w->look_arg = look_arg;
	due_init(&w->due, loop, live_watch_on_due, w);
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
	live_watch_answer_waiters(w, uv_now(w->due.timer.loop), true);
	due_close(&w->due, free_watch);
}
