// SPDX-License-Identifier: Apache-2.0
#include "timer.h"

static void on_timer(uv_timer_t *handle)
{
	struct timer *t = handle->data;

	t->fn(t->arg);
}

void timer_init(struct timer *t, uv_loop_t *loop, void (*fn)(void *arg), void *arg)
{
	*t = (struct timer){.fn = fn, .arg = arg};
	uv_timer_init(loop, &t->handle);
	t->handle.data = t;
}

void timer_at(struct timer *t, uint64_t at_ms)
{
	uint64_t now_ms = uv_now(t->handle.loop);

	if (at_ms == TIMER_NEVER)
		uv_timer_stop(&t->handle);
	else
		uv_timer_start(&t->handle, on_timer, at_ms > now_ms ? at_ms - now_ms : 0, 0);
}

void timer_in(struct timer *t, uint64_t ms)
{
	uv_timer_start(&t->handle, on_timer, ms, 0);
}

void timer_within(struct timer *t, uint64_t ms)
{
	if (!uv_is_active((uv_handle_t *)&t->handle) || uv_timer_get_due_in(&t->handle) > ms)
		timer_in(t, ms);
}

static void timer_on_closed(uv_handle_t *handle)
{
	struct timer *t = handle->data;

	if (t->closed)
		t->closed(t->arg);
}

void timer_close(struct timer *t, void (*closed)(void *arg))
{
	t->closed = closed;
	uv_close((uv_handle_t *)&t->handle, timer_on_closed);
}
