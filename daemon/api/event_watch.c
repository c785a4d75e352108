#include "event_watch.h"

#include <stdlib.h>
#include <uv.h>

struct event_watch {
	uv_timer_t timer;
	const struct event_ring *ring;
	struct event_waiters waiters;
};

static void on_timer(uv_timer_t *timer);

static void run_at(struct event_watch *w, uint64_t next_ms)
{
	uint64_t now_ms = uv_now(w->timer.loop);

	if (next_ms == UINT64_MAX)
		uv_timer_stop(&w->timer);
	else
		uv_timer_start(&w->timer, on_timer, next_ms > now_ms ? next_ms - now_ms : 0, 0);
}

static void on_timer(uv_timer_t *timer)
{
	struct event_watch *w = timer->data;

	run_at(w, event_waiters_look(&w->waiters, w->ring, uv_now(timer->loop)));
}

static void on_added(void *arg)
{
	run_at(arg, 0);
}

int event_watch_open(struct event_watch **ret, struct uv_loop_s *loop,
		     const struct event_ring *ring, struct err *e)
{
	struct event_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return err_set(e, -ENOMEM, "out of memory");
	w->ring = ring;
	w->waiters.added = on_added;
	w->waiters.arg = w;
	uv_timer_init(loop, &w->timer);
	w->timer.data = w;
	*ret = w;
	return 0;
}

struct event_waiters *event_watch_waiters(struct event_watch *w)
{
	return &w->waiters;
}

void event_watch_wake(struct event_watch *w)
{
	if (w && w->waiters.n > 0)
		run_at(w, 0);
}

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void event_watch_close(struct event_watch *w)
{
	if (!w)
		return;
	event_waiters_look(&w->waiters, w->ring, UINT64_MAX);
	uv_close((uv_handle_t *)&w->timer, on_closed);
}
