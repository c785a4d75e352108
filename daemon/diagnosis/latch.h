/* SPDX-License-Identifier: Apache-2.0 */
/* latch.h - turns a rule's answers for single samples into a verdict that opens, is held and ends.
 * Pure.
 *
 * A verdict opens after a yes in two of the last three samples, or in one if the finding sets
 * at_once. It is held for hold_seconds, and ends when the rule has answered no for the release time
 * of its cause (cause_table.c). If there is no traffic or the counters are not visible, it ends
 * after release_idle_seconds. A gap between samples counts as neither yes nor no. */
#pragma once

#include "cause.h"

#define LATCH_ONSETS 6

struct latch {
	uint64_t bad_since_ms; /* first yes of the present run; 0 = none */
	uint64_t opened_ms;    /* 0 = closed */
	uint32_t clear_ms;     /* time of ANSWER_NO since the last yes */
	uint32_t quiet_ms; /* time of ANSWER_NO_TRAFFIC or ANSWER_UNDECIDED since the last yes */
	uint32_t onset_s[LATCH_ONSETS]; /* starts of the last verdicts, newest first; 0 = none */
	uint8_t recent;			/* one bit per sample, 1 = yes; bit 0 is the newest */
	uint8_t answer;			/* enum rule_answer of the last sample */
	bool yields;			/* of the finding of the last yes */
	/* cause and next: the entry in the list of its port */
	enum cause cause;
	struct latch *next;
};

enum latch_step { LATCH_SAME, LATCH_OPENED, LATCH_CLEARED, LATCH_UNSEEN };

enum latch_step latch_update(struct latch *, const struct cause_row *, const struct thresholds *,
			     enum rule_answer, bool at_once, uint64_t now_ms, uint64_t passed_ms);
static inline bool latch_is_open(const struct latch *l)
{
	return l->opened_ms != 0;
}
/* Short form of latch_update() for the usual case: no verdict is open and the answer is not yes.
 * Returns false if latch_update() has to be called. */
static inline bool latch_rests(struct latch *l, enum rule_answer answer)
{
	if (latch_is_open(l) || answer == ANSWER_YES)
		return false;
	l->answer = (uint8_t)answer;
	if (answer != ANSWER_UNDECIDED)
		l->recent = (uint8_t)(l->recent << 1);
	return true;
}
/* Drops the samples before a gap; they do not combine with later ones. */
void latch_gap(struct latch *);
void latch_close(struct latch *);
/* Verdicts that opened within the last hour. */
unsigned latch_onsets(const struct latch *, uint64_t now_ms);

/* The latches of one port. A latch at rest (closed, no yes in the last eight samples, no onset in
 * the last hour) equals a new one and needs no memory. Zero-initialised: all are at rest. */
struct latches {
	struct latch *first; /* owned */
};

/* Returns NULL if the cause's latch is at rest. */
struct latch *latches_find(const struct latches *, enum cause);
/* Adds a latch that was at rest. NULL: out of memory. */
struct latch *latches_wake(struct latches *, enum cause);
/* Removes the latch if it is at rest. */
void latches_settle(struct latches *, struct latch *, uint64_t now_ms);
void latches_done(struct latches *);
