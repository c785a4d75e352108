/* latch.h - what makes a verdict of what a rule says in single samples: when it opens, how long it
 * stays, when it ends. Pure.
 *
 * Open: yes in two of the last three samples, or in one that is enough. Closed: no for as long as
 * the row wants, and not before it was held for its least time; where silence proves nothing, or
 * nothing is visible, after a longer time. A gap between samples counts for neither. */
#pragma once

#include "cause.h"

#define LATCH_ONSETS 6

struct latch {
	uint64_t bad_since_ms;		/* the first yes of the present run; 0 = none */
	uint64_t opened_ms;		/* 0 = closed */
	uint32_t clear_ms;		/* said no for so long without a yes */
	uint32_t quiet_ms;		/* could not say for so long: no traffic, or not visible */
	uint32_t onset_s[LATCH_ONSETS]; /* of the last verdicts, the newest first; 0 = none */
	uint8_t recent;			/* a bit for each sample, 1 = yes; the newest is bit 0 */
	uint8_t sight;			/* enum sight of the last sample */
	bool yields;			/* as the last finding said */
	short missing;			/* series that would be needed; -1 = none is missing */
	const char *why;		/* it cannot be decided; NULL = it can */
};

enum latch_step { LATCH_SAME, LATCH_OPENED, LATCH_CLEARED, LATCH_UNSEEN };

enum latch_step latch_update(struct latch *, const struct cause_row *, const struct thresholds *,
			     enum sight, bool at_once, uint64_t now_ms, uint64_t passed_ms);
static inline bool latch_is_open(const struct latch *l)
{
	return l->opened_ms != 0;
}
/* As latch_update() does where nothing is open and nothing bad was seen, as mostly. False: that has
 * to be called. */
static inline bool latch_rests(struct latch *l, enum sight sight)
{
	if (latch_is_open(l) || sight == SIGHT_YES)
		return false;
	l->sight = (uint8_t)sight;
	if (sight != SIGHT_UNKNOWN)
		l->recent = (uint8_t)(l->recent << 1);
	return true;
}
/* The samples before a gap are no neighbours of those after it. */
void latch_gap(struct latch *);
void latch_close(struct latch *);
/* Onsets within the last hour. */
unsigned latch_onsets(const struct latch *, uint64_t now_ms);
