// SPDX-License-Identifier: Apache-2.0
#include "latch.h"

#include <stdlib.h>
#include <string.h>

/* The last three samples. */
#define RECENT 7
#define HOUR_S 3600

static uint64_t ms_of(const struct thresholds *t, enum threshold key)
{
	return (uint64_t)(t->value[key] * 1000);
}

static enum latch_step open_now(struct latch *l, uint64_t now_ms)
{
	memmove(&l->onset_s[1], &l->onset_s[0], sizeof(l->onset_s) - sizeof(l->onset_s[0]));
	l->onset_s[0] = (uint32_t)(now_ms / 1000) + 1;
	l->opened_ms = now_ms;
	return LATCH_OPENED;
}

static enum latch_step latch_bad(struct latch *l, bool at_once, uint64_t now_ms)
{
	l->clear_ms = l->quiet_ms = 0;
	/* Start a new run unless one of the two previous samples was bad, too. */
	if (!l->bad_since_ms || (!latch_is_open(l) && !(l->recent & RECENT & ~1)))
		l->bad_since_ms = now_ms;
	if (!latch_is_open(l) && (at_once || __builtin_popcount(l->recent & RECENT) >= 2))
		return open_now(l, now_ms);
	return LATCH_SAME;
}

enum latch_step latch_update(struct latch *l, const struct cause_row *row,
			     const struct thresholds *t, enum rule_answer answer, bool at_once,
			     uint64_t now_ms, uint64_t passed_ms)
{
	uint64_t idle_ms = ms_of(t, LIMIT_release_idle_seconds);

	l->answer = (uint8_t)answer;
	if (answer == ANSWER_UNDECIDED) {
		/* An undecidable sample keeps the state, but is counted as time without an
		 * answer. */
		l->quiet_ms += (uint32_t)passed_ms;
	} else {
		l->recent = (uint8_t)(l->recent << 1 | (answer == ANSWER_YES));
		if (answer == ANSWER_YES)
			return latch_bad(l, at_once, now_ms);
		*(answer == ANSWER_NO_TRAFFIC ? &l->quiet_ms : &l->clear_ms) += (uint32_t)passed_ms;
	}
	if (!latch_is_open(l))
		return LATCH_SAME;
	if (now_ms - l->opened_ms < ms_of(t, LIMIT_hold_seconds))
		return LATCH_SAME;
	if (l->clear_ms >= ms_of(t, row->release)) {
		latch_close(l);
		return LATCH_CLEARED;
	}
	if ((uint64_t)l->quiet_ms + l->clear_ms >= idle_ms && l->quiet_ms) {
		latch_close(l);
		return answer == ANSWER_UNDECIDED ? LATCH_UNSEEN : LATCH_CLEARED;
	}
	return LATCH_SAME;
}

void latch_gap(struct latch *l)
{
	l->recent = 0;
	if (!latch_is_open(l))
		l->bad_since_ms = 0;
}

void latch_close(struct latch *l)
{
	l->opened_ms = l->bad_since_ms = 0;
	l->clear_ms = l->quiet_ms = 0;
	l->recent = 0;
}

unsigned latch_onsets(const struct latch *l, uint64_t now_ms)
{
	unsigned n = 0;

	while (n < LATCH_ONSETS && l->onset_s[n] && now_ms / 1000 + 1 - l->onset_s[n] < HOUR_S)
		n++;
	return n;
}

/* --- the latches of a port -------------------------------------------------------------------- */

struct latch *latches_find(const struct latches *all, enum cause c)
{
	struct latch *l = all->first;

	while (l && l->cause != c)
		l = l->next;
	return l;
}

struct latch *latches_wake(struct latches *all, enum cause c)
{
	struct latch *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->cause = c;
	l->next = all->first;
	all->first = l;
	return l;
}

void latches_settle(struct latches *all, struct latch *l, uint64_t now_ms)
{
	struct latch **at = &all->first;

	if (latch_is_open(l) || l->recent || latch_onsets(l, now_ms) > 0)
		return;
	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
	free(l);
}

void latches_done(struct latches *all)
{
	struct latch *l;

	while ((l = all->first) != NULL) {
		all->first = l->next;
		free(l);
	}
}
