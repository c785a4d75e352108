// SPDX-License-Identifier: Apache-2.0
#include "deferred_list.h"

#include "array.h"
#include "cleanup.h"

void deferred_list_init(struct deferred_list *l, uv_loop_t *loop, size_t item_size,
			void (*on_timer)(void *arg), void *arg)
{
	*l = (struct deferred_list){.item_size = item_size};
	timer_init(&l->timer, loop, on_timer, arg);
}

static struct deferred_item *item_at(const struct deferred_list *l, size_t i)
{
	return (struct deferred_item *)((char *)l->items + i * l->item_size);
}

void *deferred_list_add(struct deferred_list *l, struct http_deferred *deferred, uint64_t until_ms)
{
	void *items = array_room(l->items, l->n, l->item_size);
	struct deferred_item *item;
	uint64_t now_ms;

	if (!items)
		return NULL;
	now_ms = uv_now(l->timer.handle.loop);
	l->items = items;
	item = item_at(l, l->n++);
	*item = (struct deferred_item){deferred, until_ms};
	http_keep(deferred);
	timer_within(&l->timer, until_ms > now_ms ? until_ms - now_ms : 0);
	return item;
}

void deferred_list_settle(struct deferred_list *l, bool all_over, deferred_answer_fn *answer,
			  void *arg)
{
	uint64_t now_ms = uv_now(l->timer.handle.loop), next_ms = TIMER_NEVER;
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		struct deferred_item *item = item_at(l, i);
		bool over = all_over || item->until_ms <= now_ms ||
			    http_client_disconnected(item->deferred);

		if (answer(item, over, arg))
			continue;
		next_ms = item->until_ms < next_ms ? item->until_ms : next_ms;
		memmove(item_at(l, n++), item, l->item_size);
	}
	l->n = n;
	if (n == 0)
		free(take_ptr(l->items));
	timer_at(&l->timer, next_ms);
}

void deferred_list_wake(struct deferred_list *l, uint64_t within_ms)
{
	if (l->n > 0)
		timer_within(&l->timer, within_ms);
}

void deferred_list_close(struct deferred_list *l, void (*closed)(void *arg))
{
	timer_close(&l->timer, closed);
}
