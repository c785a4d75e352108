// SPDX-License-Identifier: Apache-2.0
#include "loop_helpers.h"

#include <time.h>

/* Number of periods that loop_sleeps() tries. */
#define SLEEP_TRIES 20

/* A timer on the stack; it is closed before the function returns. */
struct ticker {
	uv_timer_t timer;
	bool fired, closed;
};

static void on_tick(uv_timer_t *timer)
{
	((struct ticker *)timer->data)->fired = true;
}

static void on_ticker_closed(uv_handle_t *handle)
{
	((struct ticker *)handle->data)->closed = true;
}

static void ticker_start(struct ticker *t, uv_loop_t *loop, unsigned ms, unsigned repeat_ms)
{
	*t = (struct ticker){.fired = false};
	uv_timer_init(loop, &t->timer);
	t->timer.data = t;
	uv_update_time(loop);
	uv_timer_start(&t->timer, on_tick, ms, repeat_ms);
}

static void ticker_end(struct ticker *t)
{
	uv_close((uv_handle_t *)&t->timer, on_ticker_closed);
	while (!t->closed)
		uv_run(t->timer.loop, UV_RUN_NOWAIT);
}

static uint64_t monotonic_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

bool loop_until(uv_loop_t *loop, bool (*done)(void *), void *arg, unsigned limit_ms)
{
	uint64_t end_ms = monotonic_ms() + limit_ms;
	struct ticker ticker;
	bool is_done;

	ticker_start(&ticker, loop, 1, 1);
	while (!(is_done = done(arg)) && monotonic_ms() < end_ms)
		uv_run(loop, UV_RUN_ONCE);
	ticker_end(&ticker);
	return is_done;
}

unsigned loop_wakeups(uv_loop_t *loop, unsigned ms)
{
	struct ticker ticker;
	unsigned n = 0;

	/* Repeat: if the timer fires before the loop blocks, the loop would otherwise block until
	 * another event. */
	ticker_start(&ticker, loop, ms, ms);
	while (!ticker.fired) {
		uv_run(loop, UV_RUN_ONCE);
		n++;
	}
	ticker_end(&ticker);
	return n;
}

bool loop_sleeps(uv_loop_t *loop, unsigned ms, unsigned wakeups)
{
	for (int i = 0; i < SLEEP_TRIES; i++)
		if (loop_wakeups(loop, ms) <= wakeups)
			return true;
	return false;
}

int loop_end(uv_loop_t *loop)
{
	uv_run(loop, UV_RUN_DEFAULT);
	return uv_loop_close(loop);
}
