// SPDX-License-Identifier: Apache-2.0
/* test_ctl_cut.c - a name is cut in the middle, so that the distinguishing beginning and end
 * remain. */
#include "ctl_cut.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "test_group.h"

static void test_the_last_word_of_a_pod_stays(void **state)
{
	static const struct {
		const char *name;
		size_t width;
		const char *cut;
	} rows[] = {
		{"train/job-7", 11, "train/job-7"},
		{"train/llama3-70b-worker-12", 16, "train/llama3~-12"},
		{"train/vllm-6c9f7d49b6-q4z7m", 16, "train/vll~-q4z7m"},
		{"train/a-name-that-ends-long", 12, "train/~-long"},
		{"train/nameoftwentyletters", 12, "train/na~ers"},
		{"train/worker-12", 4, "~-12"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[64];

		snprintf(text, sizeof(text), "%s", rows[i].name);
		ctl_cut_pod(text, sizeof(text), rows[i].width, true);
		assert_string_equal(text, rows[i].cut);
	}
}

TEST_GROUP(ctl_cut)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_last_word_of_a_pod_stays),
	};

	return test_group_run(tests, NULL, NULL);
}
