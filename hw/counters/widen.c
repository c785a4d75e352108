// SPDX-License-Identifier: Apache-2.0
#include "widen.h"

#include "search.h"

static bool fell(const struct widen *w)
{
	return w->ok && w->seen && w->monotonic && w->raw < w->last;
}

static bool looks_like_wrap(const struct widen *w)
{
	return w->wraps32 && w->last >= UINT64_C(1) << 31 && w->last <= UINT32_MAX &&
	       (UINT64_C(1) << 32) - w->last + w->raw < UINT64_C(1) << 31;
}

/* True if the counter is 0, but was not 0 in the previous sample. */
static bool is_new_zero(const struct widen *w)
{
	return w->ok && w->monotonic && w->raw == 0 && !w->zero_once && !(w->seen && w->last == 0);
}

/* True if a counter fell to a value above 0: the counters of the port were reset. */
static bool fell_to_a_value(const struct widen *counters, size_t n)
{
	return any_of(n, i,
		      fell(&counters[i]) && counters[i].raw > 0 && !looks_like_wrap(&counters[i]));
}

/* Marks new zeros as not read, because they may be failed reads; unless another counter proves a
 * reset of the port. */
static void hold_zeros(struct widen *counters, size_t n)
{
	bool trusted = fell_to_a_value(counters, n);

	for (size_t i = 0; i < n; i++) {
		struct widen *w = &counters[i];
		bool held = !trusted && is_new_zero(w);

		if (w->ok)
			w->zero_once = held;
		if (held)
			w->ok = false;
	}
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
	struct widened result = {0};
	struct widen *fallen;
	size_t n_fallen;
	bool wrapped;

	hold_zeros(counters, n);
	n_fallen = find_fallen(counters, n, &fallen);
	wrapped = n_fallen == 1 && looks_like_wrap(fallen);
	result.is_reset = n_fallen > 0 && !wrapped;
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
