#include "due.h"

static void on_timer(uv_timer_t *timer)
{
	struct due *d = timer->data;

	d->fn(d->arg);
}

void due_init(struct due *d, uv_loop_t *loop, void (*fn)(void *arg), void *arg)
{
	*d = (struct due){.fn = fn, .arg = arg};
	uv_timer_init(loop, &d->timer);
	d->timer.data = d;
}

void due_at(struct due *d, uint64_t at_ms)
{
	uint64_t now_ms = uv_now(d->timer.loop);

	if (at_ms == DUE_NEVER)
		uv_timer_stop(&d->timer);
	else
		uv_timer_start(&d->timer, on_timer, at_ms > now_ms ? at_ms - now_ms : 0, 0);
}

void due_in(struct due *d, uint64_t ms)
{
	uv_timer_start(&d->timer, on_timer, ms, 0);
}

void due_within(struct due *d, uint64_t ms)
{
	if (!uv_is_active((uv_handle_t *)&d->timer) || uv_timer_get_due_in(&d->timer) > ms)
		due_in(d, ms);
}

static void due_on_closed(uv_handle_t *timer)
{
	struct due *d = timer->data;

	if (d->closed)
		d->closed(d->arg);
}

void due_close(struct due *d, void (*closed)(void *arg))
{
	d->closed = closed;
	uv_close((uv_handle_t *)&d->timer, due_on_closed);
}
