// SPDX-License-Identifier: Apache-2.0
/* When verdicts open, stay and end; and consistency of the tables for every cause. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "latch.h"
#include "test_group.h"

static struct thresholds limits;
static struct latch l;
static uint64_t now_ms;

static const struct cause_row row = {.name = "test", .release = LIMIT_release_seconds};

static int setup(void **state)
{
	(void)state;
	thresholds_init(&limits);
	l = (struct latch){0};
	now_ms = 1000000;
	return 0;
}

static enum latch_step tick(enum rule_answer s)
{
	now_ms += 1000;
	return latch_update(&l, &row, &limits, s, false, now_ms, 1000);
}

/* Repeats the answer for this many seconds or until a step; returns the step. */
static enum latch_step tick_for(enum rule_answer s, int seconds)
{
	enum latch_step step = LATCH_SAME;

	for (int i = 0; i < seconds && step == LATCH_SAME; i++)
		step = tick(s);
	return step;
}

static void two_of_three_samples_open_a_verdict(void **state)
{
	(void)state;
	assert_int_equal(tick(ANSWER_YES), LATCH_SAME);
	assert_int_equal(tick(ANSWER_NO), LATCH_SAME);
	assert_int_equal(tick(ANSWER_NO), LATCH_SAME);
	assert_int_equal(tick(ANSWER_YES), LATCH_SAME);
	assert_int_equal(tick(ANSWER_NO), LATCH_SAME);
	assert_int_equal(tick(ANSWER_YES), LATCH_OPENED);
	assert_int_equal(l.bad_since_ms, now_ms - 2000);
}

static void one_sample_suffices_for_an_event(void **state)
{
	(void)state;
	assert_int_equal(latch_update(&l, &row, &limits, ANSWER_YES, true, ++now_ms, 1),
			 LATCH_OPENED);
}

static void a_verdict_is_held_and_then_released(void **state)
{
	uint64_t opened;

	(void)state;
	tick_for(ANSWER_YES, 2);
	opened = now_ms;
	assert_int_equal(tick_for(ANSWER_NO, 59), LATCH_SAME);
	assert_int_equal(tick(ANSWER_NO), LATCH_CLEARED);
	assert_int_equal(now_ms - opened, 60000);
	/* A bad sample restarts the release time. */
	tick_for(ANSWER_YES, 80);
	assert_int_equal(tick_for(ANSWER_NO, 29), LATCH_SAME);
	tick(ANSWER_YES);
	assert_int_equal(tick_for(ANSWER_NO, 29), LATCH_SAME);
	assert_int_equal(tick(ANSWER_NO), LATCH_CLEARED);
	assert_false(latch_is_open(&l));
}

static void without_traffic_a_verdict_ends_later(void **state)
{
	(void)state;
	tick_for(ANSWER_YES, 2);
	assert_int_equal(tick_for(ANSWER_NO_TRAFFIC, 299), LATCH_SAME);
	assert_int_equal(tick(ANSWER_NO_TRAFFIC), LATCH_CLEARED);
}

static void undecided_samples_end_a_verdict_later(void **state)
{
	(void)state;
	tick_for(ANSWER_YES, 2);
	assert_int_equal(tick_for(ANSWER_UNDECIDED, 299), LATCH_SAME);
	assert_int_equal(tick(ANSWER_UNDECIDED), LATCH_UNSEEN);
}

static void undecided_samples_change_nothing(void **state)
{
	(void)state;
	tick(ANSWER_YES);
	tick_for(ANSWER_UNDECIDED, 50);
	assert_int_equal(tick(ANSWER_YES), LATCH_OPENED);
}

static void a_gap_interrupts_consecutive_samples(void **state)
{
	(void)state;
	tick(ANSWER_YES);
	latch_gap(&l);
	assert_int_equal(tick(ANSWER_YES), LATCH_SAME);
	assert_int_equal(tick(ANSWER_YES), LATCH_OPENED);
}

/* Only openings count as onsets. */
static void onsets_are_counted_for_an_hour(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(tick_for(ANSWER_YES, 2), LATCH_OPENED);
		assert_int_equal(latch_onsets(&l, now_ms), i + 1);
		assert_int_equal(tick_for(ANSWER_NO, 600), LATCH_CLEARED);
	}
	now_ms += 3450 * 1000;
	assert_int_equal(latch_onsets(&l, now_ms), 2);
}

/* --- the tables ------------------------------------------------------------------------------- */

static void every_cause_has_all_texts_and_limits(void **state)
{
	(void)state;
	for (int c = 0; c < N_CAUSES; c++) {
		const struct cause_row *r = cause_row((enum cause)c);

		assert_non_null(r->name);
		assert_int_equal(cause_by_name(r->name), c);
		assert_true(r->sentence[0] && r->advice[0] && r->disproof[0] && r->source[0]);
		assert_non_null(r->number);
		assert_in_range(r->severity, SEVERITY_INFO, SEVERITY_CRITICAL);
		assert_in_range(r->release, LIMIT_release_seconds, LIMIT_release_storm_seconds);
		assert_true(r->rule || c == CAUSE_CNP_LOST);
	}
	assert_int_equal(cause_by_name("bad"), -1);
}

static bool reaches(int from, int to, unsigned depth)
{
	uint64_t explains = cause_row((enum cause)from)->explains;

	if (depth > N_CAUSES || (explains & CAUSE_BIT(to)))
		return true;
	for (int c = 0; c < N_CAUSES; c++)
		if ((explains & CAUSE_BIT(c)) && reaches(c, to, depth + 1))
			return true;
	return false;
}

/* A cycle of explanations would hide all of its causes. */
static void no_cause_explains_itself(void **state)
{
	(void)state;
	for (int c = 0; c < N_CAUSES; c++)
		if (reaches(c, c, 0))
			fail_msg("%s", cause_row((enum cause)c)->name);
}

/* latch_rests() gives the same result as latch_update(), for all sequences. */
static void resting_equals_updating(void **state)
{
	struct latch a = {0}, b = {0};
	uint64_t now = 1000, seed = 1;
	unsigned opened = 0;
	(void)state;

	for (int i = 0; i < 20000; i++) {
		enum latch_step step_a, step_b = LATCH_SAME;
		bool at_once;
		enum rule_answer answer;

		seed = seed * 6364136223846793005 + 1442695040888963407;
		at_once = seed >> 63;
		/* Phases without faults alternate with phases of many. */
		answer = (enum rule_answer)((seed >> 40) % 4);
		if (i / 200 % 2 && answer == ANSWER_YES)
			answer = ANSWER_NO;
		now += 1000;
		step_a = latch_update(&a, &row, &limits, answer, at_once, now, 1000);
		if (!latch_rests(&b, answer))
			step_b = latch_update(&b, &row, &limits, answer, at_once, now, 1000);
		assert_int_equal(step_a, step_b);
		assert_int_equal(a.opened_ms, b.opened_ms);
		assert_int_equal(a.answer, b.answer);
		opened += step_a == LATCH_OPENED;
	}
	assert_in_range(opened, 10, 1000);
}

/* Every verdict that opens can end. */
static void every_cause_can_clear(void **state)
{
	(void)state;
	for (int c = 0; c < N_CAUSES; c++) {
		const struct cause_row *r = cause_row((enum cause)c);
		enum latch_step step = LATCH_SAME;

		l = (struct latch){0};
		for (int i = 0; i < 2; i++)
			latch_update(&l, r, &limits, ANSWER_YES, false, now_ms += 1000, 1000);
		assert_true(latch_is_open(&l));
		for (int i = 0; i < 301 && step == LATCH_SAME; i++)
			step = latch_update(&l, r, &limits, ANSWER_NO, false, now_ms += 1000, 1000);
		assert_int_equal(step, LATCH_CLEARED);
	}
}

static void wrong_thresholds_are_rejected(void **state)
{
	struct thresholds t;
	struct err e = {0};

	(void)state;
	thresholds_init(&t);
	for (int i = 0; i < N_THRESHOLDS; i++) {
		const struct threshold_key *k = threshold_key((enum threshold)i);

		assert_in_range((long)(k->fallback * 1e6 >= k->least * 1e6), 1, 1);
		assert_true(k->fallback <= k->greatest && k->help[0]);
		assert_int_equal(thresholds_set(&t, k->name, k->greatest, &e), 0);
		assert_int_equal(thresholds_set(&t, k->name, k->greatest * 2 + 1, &e), -EINVAL);
		assert_non_null(strstr(e.msg, k->name));
		assert_int_equal(thresholds_set(&t, k->name, (double)NAN, &e), -EINVAL);
		assert_true(t.value[i] == k->greatest);
	}
	assert_int_equal(thresholds_set(&t, "ce_share", 0.1, &e), -EINVAL);
	assert_string_equal(e.msg, "unknown threshold ce_share");
	assert_int_equal(thresholds_expect(&t, "pfc_only", &e), 0);
	assert_int_equal(thresholds_expect(&t, "dcqn", &e), -EINVAL);
	assert_int_equal(t.expected, CC_PFC_ONLY);
}

/* A latch that is freed whenever it is at rest gives the same results as one that is kept. */
static void a_latch_at_rest_can_be_freed(void **state)
{
	struct latches all = {0};
	uint64_t now = 1000000, seed = 7;
	unsigned opened = 0, rested = 0;
	(void)state;

	for (int i = 0; i < 40000; i++) {
		struct latch *found = latches_find(&all, CAUSE_PACKET_LOSS);
		enum latch_step step, step_found = LATCH_SAME;
		enum rule_answer answer;

		seed = seed * 6364136223846793005 + 1442695040888963407;
		answer = (enum rule_answer)((seed >> 40) % 4);
		/* Some quiet phases are longer than the hour for which onsets count. */
		if (answer == ANSWER_YES && i / 200 % 3)
			answer = ANSWER_NO;
		now += i / 200 % 3 == 2 ? 30000 : 1000;
		step = latch_rests(&l, answer)
			       ? LATCH_SAME
			       : latch_update(&l, &row, &limits, answer, false, now, 1000);
		if (!found && answer == ANSWER_YES)
			found = latches_wake(&all, CAUSE_PACKET_LOSS);
		if (found && latch_rests(found, answer))
			latches_settle(&all, found, now);
		else if (found)
			step_found = latch_update(found, &row, &limits, answer, false, now, 1000);
		found = latches_find(&all, CAUSE_PACKET_LOSS);
		assert_int_equal(step, step_found);
		assert_int_equal(l.opened_ms, found ? found->opened_ms : 0);
		assert_int_equal(latch_onsets(&l, now), found ? latch_onsets(found, now) : 0);
		opened += step == LATCH_OPENED;
		rested += !found;
	}
	assert_in_range(opened, 30, 10000);
	assert_in_range(rested, 1000, 39000);
	latches_done(&all);
}

static void latches_are_found_by_their_cause(void **state)
{
	struct latches all = {0};
	struct latch *loss = latches_wake(&all, CAUSE_PACKET_LOSS);
	struct latch *flap = latches_wake(&all, CAUSE_LINK_FLAP);
	(void)state;

	assert_ptr_equal(latches_find(&all, CAUSE_PACKET_LOSS), loss);
	assert_ptr_equal(latches_find(&all, CAUSE_LINK_FLAP), flap);
	assert_null(latches_find(&all, CAUSE_INCAST));
	loss->opened_ms = 5;
	latches_settle(&all, loss, 6);
	latches_settle(&all, flap, 6);
	assert_ptr_equal(latches_find(&all, CAUSE_PACKET_LOSS), loss);
	assert_null(latches_find(&all, CAUSE_LINK_FLAP));
	latches_done(&all);
}

TEST_GROUP(latch)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(two_of_three_samples_open_a_verdict, setup),
		cmocka_unit_test_setup(one_sample_suffices_for_an_event, setup),
		cmocka_unit_test_setup(a_verdict_is_held_and_then_released, setup),
		cmocka_unit_test_setup(without_traffic_a_verdict_ends_later, setup),
		cmocka_unit_test_setup(undecided_samples_end_a_verdict_later, setup),
		cmocka_unit_test_setup(undecided_samples_change_nothing, setup),
		cmocka_unit_test_setup(a_gap_interrupts_consecutive_samples, setup),
		cmocka_unit_test_setup(onsets_are_counted_for_an_hour, setup),
		cmocka_unit_test(every_cause_has_all_texts_and_limits),
		cmocka_unit_test(no_cause_explains_itself),
		cmocka_unit_test_setup(resting_equals_updating, setup),
		cmocka_unit_test_setup(a_latch_at_rest_can_be_freed, setup),
		cmocka_unit_test(latches_are_found_by_their_cause),
		cmocka_unit_test_setup(every_cause_can_clear, setup),
		cmocka_unit_test(wrong_thresholds_are_rejected),
	};

	return test_group_run(tests, NULL, NULL);
}
