/* When verdicts open, stay and end; and what the tables have to hold for every cause. */
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

static enum latch_step say(enum sight s)
{
	now_ms += 1000;
	return latch_update(&l, &row, &limits, s, false, now_ms, 1000);
}

/* What it says at the last of so many seconds. */
static enum latch_step say_for(enum sight s, int seconds)
{
	enum latch_step step = LATCH_SAME;

	for (int i = 0; i < seconds && step == LATCH_SAME; i++)
		step = say(s);
	return step;
}

static void two_of_three_open(void **state)
{
	(void)state;
	assert_int_equal(say(SIGHT_YES), LATCH_SAME);
	assert_int_equal(say(SIGHT_NO), LATCH_SAME);
	assert_int_equal(say(SIGHT_NO), LATCH_SAME);
	assert_int_equal(say(SIGHT_YES), LATCH_SAME);
	assert_int_equal(say(SIGHT_NO), LATCH_SAME);
	assert_int_equal(say(SIGHT_YES), LATCH_OPENED);
	assert_int_equal(l.bad_since_ms, now_ms - 2000);
}

static void one_is_enough_for_what_happened(void **state)
{
	(void)state;
	assert_int_equal(latch_update(&l, &row, &limits, SIGHT_YES, true, ++now_ms, 1),
			 LATCH_OPENED);
}

static void it_is_held_and_then_released(void **state)
{
	uint64_t opened;

	(void)state;
	say_for(SIGHT_YES, 2);
	opened = now_ms;
	assert_int_equal(say_for(SIGHT_NO, 59), LATCH_SAME);
	assert_int_equal(say(SIGHT_NO), LATCH_CLEARED);
	assert_int_equal(now_ms - opened, 60000);
	/* A bad sample begins the time anew. */
	say_for(SIGHT_YES, 80);
	assert_int_equal(say_for(SIGHT_NO, 29), LATCH_SAME);
	say(SIGHT_YES);
	assert_int_equal(say_for(SIGHT_NO, 29), LATCH_SAME);
	assert_int_equal(say(SIGHT_NO), LATCH_CLEARED);
	assert_false(latch_is_open(&l));
}

static void silence_ends_it_later(void **state)
{
	(void)state;
	say_for(SIGHT_YES, 2);
	assert_int_equal(say_for(SIGHT_QUIET, 299), LATCH_SAME);
	assert_int_equal(say(SIGHT_QUIET), LATCH_CLEARED);
}

static void so_does_blindness(void **state)
{
	(void)state;
	say_for(SIGHT_YES, 2);
	assert_int_equal(say_for(SIGHT_UNKNOWN, 299), LATCH_SAME);
	assert_int_equal(say(SIGHT_UNKNOWN), LATCH_UNSEEN);
}

static void the_unknown_changes_nothing(void **state)
{
	(void)state;
	say(SIGHT_YES);
	say_for(SIGHT_UNKNOWN, 50);
	assert_int_equal(say(SIGHT_YES), LATCH_OPENED);
}

static void samples_before_a_gap_are_no_neighbours(void **state)
{
	(void)state;
	say(SIGHT_YES);
	latch_gap(&l);
	assert_int_equal(say(SIGHT_YES), LATCH_SAME);
	assert_int_equal(say(SIGHT_YES), LATCH_OPENED);
}

/* Clearing is none. */
static void onsets_are_counted_for_an_hour(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(say_for(SIGHT_YES, 2), LATCH_OPENED);
		assert_int_equal(latch_onsets(&l, now_ms), i + 1);
		assert_int_equal(say_for(SIGHT_NO, 600), LATCH_CLEARED);
	}
	now_ms += 3450 * 1000;
	assert_int_equal(latch_onsets(&l, now_ms), 2);
}

/* --- the tables ------------------------------------------------------------------------------- */

static void every_cause_is_told_in_full(void **state)
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

/* Otherwise two causes would hide each other. */
static void nothing_explains_itself(void **state)
{
	(void)state;
	for (int c = 0; c < N_CAUSES; c++)
		if (reaches(c, c, 0))
			fail_msg("%s", cause_row((enum cause)c)->name);
}

/* The short way decides as the long one, whatever comes. */
static void what_rests_is_as_if_it_was_updated(void **state)
{
	struct latch a = {0}, b = {0};
	uint64_t now = 1000, seed = 1;
	unsigned opened = 0;
	(void)state;

	for (int i = 0; i < 20000; i++) {
		enum latch_step step_a, step_b = LATCH_SAME;
		bool at_once;
		enum sight sight;

		seed = seed * 6364136223846793005 + 1442695040888963407;
		at_once = seed >> 63;
		/* Runs in which nothing is bad come after runs in which much is. */
		sight = (enum sight)((seed >> 40) % 4);
		if (i / 200 % 2 && sight == SIGHT_YES)
			sight = SIGHT_NO;
		now += 1000;
		step_a = latch_update(&a, &row, &limits, sight, at_once, now, 1000);
		if (!latch_rests(&b, sight))
			step_b = latch_update(&b, &row, &limits, sight, at_once, now, 1000);
		assert_int_equal(step_a, step_b);
		assert_int_equal(a.opened_ms, b.opened_ms);
		assert_int_equal(a.sight, b.sight);
		opened += step_a == LATCH_OPENED;
	}
	assert_in_range(opened, 10, 1000);
}

/* Whatever opens can end. */
static void every_cause_can_clear(void **state)
{
	(void)state;
	for (int c = 0; c < N_CAUSES; c++) {
		const struct cause_row *r = cause_row((enum cause)c);
		enum latch_step step = LATCH_SAME;

		l = (struct latch){0};
		for (int i = 0; i < 2; i++)
			latch_update(&l, r, &limits, SIGHT_YES, false, now_ms += 1000, 1000);
		assert_true(latch_is_open(&l));
		for (int i = 0; i < 301 && step == LATCH_SAME; i++)
			step = latch_update(&l, r, &limits, SIGHT_NO, false, now_ms += 1000, 1000);
		assert_int_equal(step, LATCH_CLEARED);
	}
}

static void thresholds_refuse_what_is_wrong(void **state)
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
	assert_string_equal(e.msg, "ce_share is no threshold");
	assert_int_equal(thresholds_expect(&t, "pfc_only", &e), 0);
	assert_int_equal(thresholds_expect(&t, "dcqn", &e), -EINVAL);
	assert_int_equal(t.expected, CC_PFC_ONLY);
}

TEST_GROUP(latch)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(two_of_three_open, setup),
		cmocka_unit_test_setup(one_is_enough_for_what_happened, setup),
		cmocka_unit_test_setup(it_is_held_and_then_released, setup),
		cmocka_unit_test_setup(silence_ends_it_later, setup),
		cmocka_unit_test_setup(so_does_blindness, setup),
		cmocka_unit_test_setup(the_unknown_changes_nothing, setup),
		cmocka_unit_test_setup(samples_before_a_gap_are_no_neighbours, setup),
		cmocka_unit_test_setup(onsets_are_counted_for_an_hour, setup),
		cmocka_unit_test(every_cause_is_told_in_full),
		cmocka_unit_test(nothing_explains_itself),
		cmocka_unit_test_setup(what_rests_is_as_if_it_was_updated, setup),
		cmocka_unit_test_setup(every_cause_can_clear, setup),
		cmocka_unit_test(thresholds_refuse_what_is_wrong),
	};

	return test_group_run(tests, NULL, NULL);
}
