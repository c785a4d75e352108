// SPDX-License-Identifier: Apache-2.0
/* test_bpf_log.c - the words that decide are found in a verifier's log, whatever is around them. */
#include "bpf_log.h"
#include "test_group.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *words_of(const char *text)
{
	static char words[BPF_WORDS_SIZE];

	strcpy(words, "before");
	bpf_log_words(text, words);
	return words;
}

static void the_last_line_but_the_statistics(void **state)
{
	(void)state;
	assert_string_equal(words_of("prog 'p': -- BEGIN PROG LOAD LOG --\n"
				     "0: (bf) r6 = r1\n1: (7b) *(u64 *)(r10 -8) = r2\nR2 !read_ok\n"
				     "processed 2 insns (limit 1000000) max_states_per_insn 0\n"
				     "-- END PROG LOAD LOG --\n"),
			    "R2 !read_ok");
}

static void texts_without_a_verifier_log_are_ignored(void **state)
{
	(void)state;
	assert_string_equal(words_of("libbpf: map 'x': created\n"), "before");
	assert_string_equal(words_of(""), "before");
	assert_string_equal(words_of("-- BEGIN PROG LOAD LOG --\n"), "before");
	assert_string_equal(words_of("-- BEGIN PROG LOAD LOG --\n\n-- END PROG LOAD LOG --\nx\n"),
			    "before");
}

static void a_cut_log_has_words_too(void **state)
{
	(void)state;
	assert_string_equal(words_of("-- BEGIN PROG LOAD LOG --\ninvalid mem"), "invalid mem");
}

static void long_and_strange_words_are_cut_and_cleaned(void **state)
{
	char text[256] = "-- BEGIN PROG LOAD LOG --\n\x1b[2J\"";

	(void)state;
	memset(text + strlen(text), 'x', 200);
	assert_int_equal(strlen(words_of(text)), BPF_WORDS_SIZE - 1);
	assert_memory_equal(words_of(text), "?[2J\"xxx", 8);
}

TEST_GROUP(bpf_log)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_line_but_the_statistics),
		cmocka_unit_test(texts_without_a_verifier_log_are_ignored),
		cmocka_unit_test(a_cut_log_has_words_too),
		cmocka_unit_test(long_and_strange_words_are_cut_and_cleaned),
	};

	return test_group_run(tests, NULL, NULL);
}
