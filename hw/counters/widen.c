// SPDX-License-Identifier: Apache-2.0
#include "widen.h"

static bool fell(const struct widen *w)
{
	return w->ok && w->seen && w->monotonic && w->raw < w->last;
}

static bool looks_like_wrap(const struct widen *w)
{
	return w->wraps32 && w->last >= UINT64_C(1) << 31 && w->last <= UINT32_MAX &&
	       (UINT64_C(1) << 32) - w->last + w->raw < UINT64_C(1) << 31;
}

/* Returns how many counters fell; *ret_one is one of them. */
static size_t find_fallen(struct widen *counters, size_t n, struct widen **ret_one)
{
	size_t n_fallen = 0;

	for (size_t i = 0; i < n; i++)
		if (fell(&counters[i])) {
			*ret_one = &counters[i];
			n_fallen++;
		}
	return n_fallen;
}

struct widened widen_port(struct widen *counters, size_t n)
{
	struct widen *fallen;
	size_t n_fallen = find_fallen(counters, n, &fallen);
	bool wrapped = n_fallen == 1 && looks_like_wrap(fallen);
	struct widened result = {.is_reset = n_fallen > 0 && !wrapped};

	if (wrapped)
		fallen->wraps++;
	for (size_t i = 0; i < n; i++) {
		struct widen *w = &counters[i];

		if (result.is_reset)
			w->wraps = 0;
		if (!w->ok)
			continue;
		result.has_moved |= w->monotonic && w->seen && w->raw != w->last;
		w->last = w->raw;
		w->seen = true;
	}
	return result;
}
