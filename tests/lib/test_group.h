/* SPDX-License-Identifier: Apache-2.0 */
/* test_group.h - the groups of a test program. A folder of tests/unit is one program,
 *build/tests/FOLDER; each of its test_X.c is a group X that registers itself:
 *
 *	TEST_GROUP(engine_random)
 *	{
 *		const struct CMUnitTest tests[] = {...};
 *
 *		return test_group_run(tests, NULL, NULL);
 *	}
 *
 * test_group.c has main(), which runs the groups; `PROGRAM --help` prints how. Each group of
 *several runs in a child process: crashes, leaks and static state stay its own. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

typedef int test_group_fn(void);

struct test_group {
	const char *name;
	test_group_fn *run; /* returns how many of its tests failed */
	struct test_group *next;
};

/* Called before main(). `group` is borrowed and must stay valid. */
void test_group_add(struct test_group *group);

/* clang-format off */
#define TEST_GROUP(group_name)                                                                     \
	static test_group_fn run_##group_name;                                                     \
	__attribute__((constructor)) static void add_##group_name(void)                            \
	{                                                                                          \
		static struct test_group group = {#group_name, run_##group_name, NULL};            \
                                                                                                   \
		test_group_add(&group);                                                            \
	}                                                                                          \
	static int run_##group_name(void)
/* clang-format on */

/* Runs the tests of an array that --filter selects, in cmocka; `setup` and `teardown` may be NULL
 * and run once. Returns how many tests failed. */
#define test_group_run(tests, setup, teardown)                                                     \
	test_group_run_array(tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)

int test_group_run_array(const struct CMUnitTest *tests, size_t n_tests, CMFixtureFunction setup,
			 CMFixtureFunction teardown);
