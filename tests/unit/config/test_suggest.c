// SPDX-License-Identifier: Apache-2.0
/* "Did you mean": similar words are suggested, others are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <string.h>

#include "cleanup.h"
#include "suggest.h"
#include "test_group.h"

static const char *const candidates[] = {"listen", "log-level", "log-format", "run-dir", "dry-run"};

static const char *near(const char *word)
{
	return suggest(word, strlen(word), candidates, ARRAY_SIZE(candidates));
}

static void test_one_typo_is_corrected(void **state)
{
	(void)state;
	assert_string_equal(near("lisen"), "listen");	/* a letter too few */
	assert_string_equal(near("listten"), "listen"); /* one too many */
	assert_string_equal(near("lisden"), "listen");	/* a wrong one */
	assert_string_equal(near("lsiten"), "listen");	/* two changed places */
	assert_string_equal(suggest("prots", 5, (const char *const[]){"pods", "ports", "top"}, 3),
			    "ports");			       /* two transposed letters */
	assert_string_equal(near("log_format"), "log-format"); /* the other word separator */
	assert_string_equal(near("listen"), "listen");
}

static void test_dissimilar_words_are_not_suggested(void **state)
{
	(void)state;
	assert_null(near("sample-interval"));
	assert_null(near("x"));
	assert_null(near(""));
	assert_null(near("lst")); /* half of it is missing */
}

static void test_the_nearest_wins_and_the_first_of_equals(void **state)
{
	static const char *const words[] = {"abcdef", "abcdxx", "abcdxy"};
	(void)state;

	assert_string_equal(near("log-leval"), "log-level");
	assert_string_equal(suggest("abcdyy", 6, words, 3), "abcdxy");
	assert_string_equal(suggest("abcdzz", 6, words + 1, 2), "abcdxx");
}

static void test_only_the_given_length_counts(void **state)
{
	(void)state;
	assert_string_equal(suggest("listn=:9907", 5, candidates, ARRAY_SIZE(candidates)),
			    "listen");
}

/* The user's word may be of any length, the array of distances is not. */
static void test_words_of_any_length_are_safe(void **state)
{
	char long_word[201];
	const char *const words[] = {long_word};
	(void)state;

	memset(long_word, 'a', 200);
	long_word[200] = '\0';
	assert_null(suggest(long_word, 200, words, 1));
	assert_null(suggest(long_word, 65, words, 1));
	assert_null(suggest(long_word, 64, words, 1)); /* the candidate is too long */
	long_word[64] = '\0';
	assert_ptr_equal(suggest(long_word, 64, words, 1), long_word);
	assert_null(suggest("listen", 6, NULL, 0));
}

TEST_GROUP(suggest)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_typo_is_corrected),
		cmocka_unit_test(test_dissimilar_words_are_not_suggested),
		cmocka_unit_test(test_the_nearest_wins_and_the_first_of_equals),
		cmocka_unit_test(test_only_the_given_length_counts),
		cmocka_unit_test(test_words_of_any_length_are_safe),
	};

	return test_group_run(tests, NULL, NULL);
}
