// SPDX-License-Identifier: Apache-2.0
/* When a sandbox was first seen and when it was created, and which of two is younger. */
#include "sandbox.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cleanup.h"
#include "test_group.h"

#define MS   INT64_C(1000000)
#define UNIX (INT64_C(1700000000000) * MS)

/* Creation times, and the expected loop time of the creation. All are seen at loop time 5000, which
 * is UNIX. */
static const struct {
	const char *what;
	int64_t created_ns;
	uint64_t made_ms;
} cases[] = {
	{"no time is reported", 0, 0},
	{"now", UNIX, 5000},
	{"a moment ago", UNIX - 20 * MS, 4980},
	{"in the future", UNIX + 1, 0},
	{"tomorrow", UNIX + 86400000 * MS, 0},
	{"since the machine was started", UNIX - 4999 * MS, 1},
	{"before the machine's start", UNIX - 5000 * MS, 1},
	{"long ago", 1, 1},
};

static void test_creation_times(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct sandbox s = {.id = "s", .created_ns = cases[i].created_ns};
		struct sandbox_list none = {0};
		struct sandbox_list l = {.items = &s, .n = 1};

		sandbox_list_date(&l, &none, 5000, UNIX);
		assert_int_equal(s.seen_ms, 5000);
		if (s.made_ms != cases[i].made_ms)
			fail_msg("%s: %u", cases[i].what, (unsigned)s.made_ms);
	}
}

static struct sandbox one(const char *pod, const char *uid, uint32_t attempt)
{
	struct sandbox s = {.attempt = attempt, .created_ns = UNIX};

	snprintf(s.pod, sizeof(s.pod), "%s", pod);
	snprintf(s.uid, sizeof(s.uid), "%s", uid);
	snprintf(s.id, sizeof(s.id), "%s.%u", uid, attempt);
	return s;
}

/* Some sandboxes are removed, some are new, some stay. */
static void test_known_sandboxes_keep_their_times(void **state)
{
	struct sandbox then[] = {one("a", "u1", 0), one("b", "u2", 0), one("c", "u3", 0)};
	struct sandbox now[] = {one("a", "u0", 0), one("b", "u2", 0), one("b", "u2", 1),
				one("c", "u3", 0), one("d", "u4", 0)};
	static const uint64_t seen[] = {5000, 70, 5000, 80, 5000},
			      made[] = {4000, 7, 4000, 0, 4000};
	struct sandbox_list before = {.items = then, .n = ARRAY_SIZE(then)};
	struct sandbox_list l = {.items = now, .n = ARRAY_SIZE(now)};

	(void)state;
	then[1].seen_ms = 70;
	then[1].made_ms = 7;
	then[2].seen_ms = 80;
	sandbox_list_date(&l, &before, 5000, UNIX + 1000 * MS);
	for (size_t i = 0; i < l.n; i++) {
		assert_int_equal(now[i].seen_ms, seen[i]);
		assert_int_equal(now[i].made_ms, made[i]);
	}
	assert_int_equal(l.n_left, 1);
	free(l.left);
}

/* A list that is incomplete for a moment does not make any sandbox look younger. */
static void test_a_sandbox_that_reappears_keeps_its_age(void **state)
{
	struct sandbox then[] = {one("a", "u1", 0), one("b", "u2", 0), one("c", "u3", 0)};
	struct sandbox again[] = {one("a", "u1", 0), one("b", "u2", 0), one("c", "u9", 0)};
	struct sandbox_list before = {.items = then, .n = ARRAY_SIZE(then)}, empty = {0};
	struct sandbox_list l = {.items = again, .n = ARRAY_SIZE(again)};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(then); i++) {
		then[i].seen_ms = 70 + i;
		then[i].made_ms = 7 + i;
	}
	sandbox_list_date(&empty, &before, 5000, UNIX);
	assert_null(before.left);
	assert_int_equal(empty.n_left, 3);
	sandbox_list_date(&l, &empty, 6000, UNIX - 3600000 * MS); /* the clock was set back */
	assert_int_equal(again[0].seen_ms, 70);
	assert_int_equal(again[1].seen_ms, 71);
	assert_int_equal(again[1].made_ms, 8);
	assert_int_equal(again[2].seen_ms, 6000); /* another sandbox of the same pod name */
	assert_int_equal(l.n_left, 1);
	free(l.left);
}

static void test_only_the_latest_removed_sandboxes_are_kept(void **state)
{
	struct sandbox s = one("a", "u1", 0);
	struct sandbox_list with = {.items = &s, .n = 1}, without = {0};

	(void)state;
	for (uint32_t i = 0; i <= SANDBOX_DATES_MAX; i++) {
		s = one("a", "u1", i);
		sandbox_list_date(&with, &without, 100 + i, UNIX);
		sandbox_list_date(&without, &with, 5000, UNIX);
	}
	assert_int_equal(without.n_left, SANDBOX_DATES_MAX);
	s = one("a", "u1", 1);
	sandbox_list_date(&with, &without, 6000, UNIX);
	assert_int_equal(s.seen_ms, 101);
	s = one("a", "u1", 0); /* older than the 512 that are remembered */
	with.n = 0;
	sandbox_list_date(&without, &with, 7000, UNIX);
	with.n = 1;
	sandbox_list_date(&with, &without, 8000, UNIX);
	assert_int_equal(s.seen_ms, 8000);
	free(with.left);
}

static void is_younger(const struct sandbox *a, const struct sandbox *than)
{
	assert_true(sandbox_is_younger(a, than));
	assert_false(sandbox_is_younger(than, a));
}

static void test_which_is_younger(void **state)
{
	struct sandbox a = one("a", "u1", 3), b = one("a", "u2", 0), c = one("a", "u1", 4);

	(void)state;
	assert_false(sandbox_is_younger(&a, &a));
	a.seen_ms = 100;
	b.seen_ms = 101;
	a.created_ns = UNIX + 86400000 * MS;
	is_younger(&b, &a);
	b.seen_ms = 100; /* both in the first list after the start */
	is_younger(&a, &b);
	is_younger(&c, &a); /* the same pod's next attempt */
}

TEST_GROUP(sandbox)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_creation_times),
		cmocka_unit_test(test_known_sandboxes_keep_their_times),
		cmocka_unit_test(test_a_sandbox_that_reappears_keeps_its_age),
		cmocka_unit_test(test_only_the_latest_removed_sandboxes_are_kept),
		cmocka_unit_test(test_which_is_younger),
	};

	return test_group_run(tests, NULL, NULL);
}
