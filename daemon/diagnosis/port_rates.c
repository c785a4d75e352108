// SPDX-License-Identifier: Apache-2.0
#include "port_rates.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool has_series(const struct port_rates *p, int i)
{
	return p->values && (p->seen[i / 64] >> i % 64 & 1);
}

static size_t count_seen(const struct port_rates *p)
{
	size_t n = 0;

	for (size_t i = 0; i < sizeof(p->seen) / sizeof(p->seen[0]); i++)
		n += (size_t)__builtin_popcountll(p->seen[i]);
	return n;
}

void port_rates_init(struct port_rates *p)
{
	*p = (struct port_rates){0};
}

void port_rates_done(struct port_rates *p)
{
	free(p->moving);
	free(p->values);
	*p = (struct port_rates){0};
}

/* --- at rest ---------------------------------------------------------------------------------- */

static void forget_values(struct port_rates *p)
{
	free(p->values);
	p->values = NULL;
	memset(p->seen, 0, sizeof(p->seen));
}

/* Keeps the values that are not NaN. False: out of memory, and nothing is kept. */
static bool keep_values(struct port_rates *p, const double value[N_SERIES])
{
	size_t n = 0;

	forget_values(p);
	for (int i = 0; i < N_SERIES; i++)
		if (!isnan(value[i]))
			p->seen[i / 64] |= UINT64_C(1) << i % 64;
	if (count_seen(p) == 0)
		return true;
	p->values = malloc(count_seen(p) * sizeof(*p->values));
	if (!p->values) {
		forget_values(p);
		return false;
	}
	for (int i = 0; i < N_SERIES; i++)
		if (has_series(p, i))
			p->values[n++] = value[i];
	return true;
}

static bool has_same_values(const struct port_rates *p, const double value[N_SERIES])
{
	size_t n = 0;

	for (int i = 0; i < N_SERIES; i++)
		if (has_series(p, i) ? value[i] != p->values[n++] : !isnan(value[i]))
			return false;
	return true;
}

/* Returns the rates that rates_update() gives for unchanged values, or for the first values of a
 * port. */
static void rates_at_rest(const struct port_rates *p, double interval_s, struct rates *ret)
{
	size_t n = 0;

	rates_init(ret);
	ret->ignored = p->ignored;
	ret->resets = p->resets;
	for (int i = 0; i < N_SERIES; i++) {
		double value = has_series(p, i) ? p->values[n++] : (double)NAN;

		if (series_kind((enum series)i) == SERIES_GAUGE) {
			ret->rate[i] = rates_gauge((enum series)i, value);
			continue;
		}
		if (isnan(value))
			continue;
		ret->last[i] = value;
		ret->rate[i] = p->is_base ? NAN : 0;
		ret->zero_once[i] = p->is_base && value == 0;
		ret->span_s[i] = (float)interval_s;
	}
}

/* --- moving ----------------------------------------------------------------------------------- */

/* True if another sample with the same values would give the rates of a port at rest. */
static bool are_at_rest(const struct rates *r, const double value[N_SERIES])
{
	for (int i = 0; i < N_SERIES; i++)
		if (series_kind((enum series)i) != SERIES_GAUGE &&
		    (r->kept[i] || r->below[i] || r->rate[i] != 0 || value[i] != r->last[i]) &&
		    !(isnan(r->last[i]) && isnan(value[i])))
			return false;
	return !r->fell;
}

/* Drops the full rates; without memory for the values, keeps them. */
static void come_to_rest(struct port_rates *p, const double value[N_SERIES])
{
	if (!keep_values(p, value))
		return;
	p->ignored = p->moving->ignored;
	p->resets = p->moving->resets;
	p->is_base = false;
	free(p->moving);
	p->moving = NULL;
}

static int begin_to_move(struct port_rates *p)
{
	struct rates *r = malloc(sizeof(*r));

	if (!r)
		return -ENOMEM;
	rates_at_rest(p, 0, r);
	forget_values(p);
	p->moving = r;
	p->n_still = 0;
	return 0;
}

struct rates *port_rates_update(struct port_rates *p, struct rates *room,
				const double value[N_SERIES], double interval_s, double gap_s,
				double line, int *ret_code)
{
	bool is_first = !p->moving && count_seen(p) == 0;

	*ret_code = 0;
	if (!p->moving && (is_first || has_same_values(p, value))) {
		p->is_base = is_first;
		if (is_first && !keep_values(p, value))
			*ret_code = -ENOMEM;
		rates_at_rest(p, interval_s, room);
		return room;
	}
	if (!p->moving && begin_to_move(p) < 0) {
		*ret_code = -ENOMEM;
		port_rates_restart(p);
		rates_at_rest(p, interval_s, room);
		return room;
	}
	rates_update(p->moving, value, interval_s, gap_s, line);
	p->n_still = are_at_rest(p->moving, value) ? p->n_still + 1 : 0;
	if (p->n_still < RATES_REST_SAMPLES)
		return p->moving;
	*room = *p->moving;
	come_to_rest(p, value);
	return p->moving ? p->moving : room;
}

struct rates *port_rates_again(struct port_rates *p, struct rates *room, double interval_s)
{
	if (p->moving)
		return p->moving;
	rates_at_rest(p, interval_s, room);
	return room;
}

void port_rates_restart(struct port_rates *p)
{
	p->ignored = port_rates_ignored(p);
	p->resets = port_rates_resets(p);
	free(p->moving);
	p->moving = NULL;
	forget_values(p);
}

uint32_t port_rates_ignored(const struct port_rates *p)
{
	return p->moving ? p->moving->ignored : p->ignored;
}

uint32_t port_rates_resets(const struct port_rates *p)
{
	return p->moving ? p->moving->resets : p->resets;
}

size_t port_rates_memory(const struct port_rates *p)
{
	return (p->moving ? sizeof(*p->moving) : 0) + count_seen(p) * sizeof(*p->values);
}
