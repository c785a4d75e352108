/* health.c - reasons that come and go, damped. What speaks against a device now is judged in
 * health_judge.c.
 *
 * Each reason has a clock of its own, which starts anew whenever the reason comes or goes: one that
 * flaps faster than its hold time never gets through, in either direction. */
#include "health.h"

#include <stdio.h>
#include <string.h>

/* Reasons that have not been counted, or not been given up, yet. */
static unsigned pending(const struct health *h)
{
	return h->seen ^ h->counted;
}

static uint32_t hold_ms(const struct health *h, const struct pool *pool, unsigned reason)
{
	const struct hold_times *hold = &pool->hold[reason];

	return h->seen & HEALTH_BIT(reason) ? hold->down_ms : hold->up_ms;
}

void health_start(struct health *h, unsigned reasons, uint64_t now_ms)
{
	*h = (struct health){.seen = reasons, .counted = reasons};
	for (unsigned i = 0; i < N_HEALTH_REASONS; i++)
		h->since_ms[i] = now_ms;
}

bool health_update(struct health *h, unsigned reasons, const struct pool *pool, uint64_t now_ms)
{
	unsigned flipped = h->seen ^ reasons, before = h->counted;

	if (flipped == 0 && pending(h) == 0)
		return false;
	h->seen = reasons;
	for (unsigned i = 0; i < N_HEALTH_REASONS; i++) {
		if (flipped & HEALTH_BIT(i))
			h->since_ms[i] = now_ms;
		if (pending(h) & HEALTH_BIT(i) && now_ms >= h->since_ms[i] &&
		    now_ms - h->since_ms[i] >= hold_ms(h, pool, i))
			h->counted ^= HEALTH_BIT(i);
	}
	return h->counted != before;
}

uint64_t health_deadline(const struct health *h, const struct pool *pool)
{
	uint64_t first = UINT64_MAX;

	for (unsigned i = 0; i < N_HEALTH_REASONS && pending(h); i++) {
		uint64_t at = h->since_ms[i] + hold_ms(h, pool, i);

		if (pending(h) & HEALTH_BIT(i) && at < first)
			first = at;
	}
	return first;
}

void health_text(unsigned reasons, char *text, size_t size)
{
	size_t len = 0;

	if (size)
		text[0] = '\0';
	for (unsigned i = 0; i < N_HEALTH_REASONS && len < size; i++)
		if (reasons & HEALTH_BIT(i))
			len += (size_t)snprintf(text + len, size - len, "%s%s", len ? ", " : "",
						health_reason_name((enum health_reason)i));
}
