// SPDX-License-Identifier: Apache-2.0
/* test_bpf_log.c - finds the verifier's reason in libbpf's output. */
#include "bpf_log.h"
#include "test_group.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *reason_in(const char *text)
{
	static char words[BPF_WORDS_SIZE];

	strcpy(words, "before");
	bpf_log_words(text, words);
	return words;
}

static void the_last_line_before_the_statistics_is_the_reason(void **state)
{
	(void)state;
	assert_string_equal(
		reason_in("prog 'p': -- BEGIN PROG LOAD LOG --\n"
			  "0: (bf) r6 = r1\n1: (7b) *(u64 *)(r10 -8) = r2\nR2 !read_ok\n"
			  "processed 2 insns (limit 1000000) max_states_per_insn 0\n"
			  "-- END PROG LOAD LOG --\n"),
		"R2 !read_ok");
}

static void texts_without_a_verifier_log_are_ignored(void **state)
{
	(void)state;
	assert_string_equal(reason_in("libbpf: map 'x': created\n"), "before");
	assert_string_equal(reason_in(""), "before");
	assert_string_equal(reason_in("-- BEGIN PROG LOAD LOG --\n"), "before");
	assert_string_equal(reason_in("-- BEGIN PROG LOAD LOG --\n\n-- END PROG LOAD LOG --\nx\n"),
			    "before");
}

static void a_truncated_log_has_a_reason(void **state)
{
	(void)state;
	assert_string_equal(reason_in("-- BEGIN PROG LOAD LOG --\ninvalid mem"), "invalid mem");
}

static void long_reasons_are_truncated_and_control_characters_replaced(void **state)
{
	char text[256] = "-- BEGIN PROG LOAD LOG --\n\x1b[2J\"";

	(void)state;
	memset(text + strlen(text), 'x', 200);
	assert_int_equal(strlen(reason_in(text)), BPF_WORDS_SIZE - 1);
	assert_memory_equal(reason_in(text), "?[2J\"xxx", 8);
}

TEST_GROUP(bpf_log)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_line_before_the_statistics_is_the_reason),
		cmocka_unit_test(texts_without_a_verifier_log_are_ignored),
		cmocka_unit_test(a_truncated_log_has_a_reason),
		cmocka_unit_test(long_reasons_are_truncated_and_control_characters_replaced),
	};

	return test_group_run(tests, NULL, NULL);
}
