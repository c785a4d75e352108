// SPDX-License-Identifier: Apache-2.0
/* Authentication: files of tokens and users, valid and invalid headers, and passwords. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <crypt.h>

#include "access.h"
#include "cleanup.h"
#include "test_group.h"

#define TOKEN "0123456789abcdef"

static struct access_source source(const char *text, const char *name)
{
	return (struct access_source){text, text ? strlen(text) : 0, name};
}

static int make(struct access **ret, const char *tokens, const char *users, struct err *e)
{
	const struct access_source t = source(tokens, "tokens"), u = source(users, "users");

	return access_new(ret, &t, &u, e);
}

/* A line of a users file; with few rounds, to be fast. */
static char *user_line(const char *name, const char *password)
{
	struct crypt_data data = {0};
	char *line = NULL;

	assert_true(asprintf(&line, "%s:%s\n", name,
			     crypt_r(password, "$6$rounds=1000$saltsalt", &data)) > 0);
	return line;
}

static enum access_verdict ask(const struct access *a, const char *header)
{
	struct access_claim claim;

	return access_judge(a, header, &claim);
}

static void test_a_token_must_match_completely(void **state)
{
	struct access *a = NULL;

	(void)state;
	assert_int_equal(make(&a, "# ours\n\n " TOKEN " \nsecond-token-of-many\r\n", NULL, NULL),
			 0);
	assert_int_equal(ask(a, "Bearer " TOKEN), ACCESS_GRANTED);
	assert_int_equal(ask(a, "bearer  second-token-of-many"), ACCESS_GRANTED);
	assert_int_equal(ask(a, ""), ACCESS_REFUSED);
	assert_int_equal(ask(a, "Bearer"), ACCESS_REFUSED);
	assert_int_equal(ask(a, "Bearer "), ACCESS_REFUSED);
	assert_int_equal(ask(a, "Bearer 0123456789abcde"), ACCESS_REFUSED);
	assert_int_equal(ask(a, "Bearer " TOKEN "0"), ACCESS_REFUSED);
	assert_int_equal(ask(a, "Bearer # ours"), ACCESS_REFUSED);
	assert_int_equal(ask(a, "Digest " TOKEN), ACCESS_REFUSED);
	/* no users are configured */
	assert_int_equal(ask(a, "Basic dXNlcjpwYXNz"), ACCESS_REFUSED);
	access_free(a);
}

static void test_invalid_files_are_rejected_with_a_line(void **state)
{
	static const struct {
		const char *tokens, *users, *message;
	} bad[] = {
		{"short\n", NULL, "tokens:1: "},
		{"# x\n\nwith blanks between them\n", NULL, "tokens:3: "},
		{"# nothing\n", NULL, "tokens: it has no entries"},
		{"", NULL, "tokens: it has no entries"},
		{NULL, "", "users: it has no entries"},
		{NULL, "admin\n", "users:1: expected NAME:HASH"},
		{NULL, ":$6$saltsalt$x\n", "users:1: expected NAME:HASH"},
		{NULL, "admin:plain\n", "users:1: crypt(3) does not consider"},
		{NULL, "admin:$apr1$salt$hash\n", "users:1: crypt(3) does not consider"},
		{NULL, "admin:$1$saltsalt$hash\n", "users:1: crypt(3) does not consider"}, /* MD5 */
		{NULL, "admin:aaQSqAReePlq6\n", "users:1: crypt(3) does not consider"},	   /* DES */
		{TOKEN, "x", "users:1: "},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct access *a = NULL;
		struct err e = {0};

		assert_int_equal(make(&a, bad[i].tokens, bad[i].users, &e), -EINVAL);
		if (strncmp(e.msg, bad[i].message, strlen(bad[i].message)) != 0)
			fail_msg("want \"%s\", is \"%s\"", bad[i].message, e.msg);
		assert_null(a);
	}
}

static void test_too_many_entries_are_rejected(void **state)
{
	char text[(ACCESS_ENTRIES_MAX + 1) * sizeof(TOKEN) + 1] = "";
	struct access *a = NULL;
	struct err e = {0};

	(void)state;
	for (size_t i = 0; i <= ACCESS_ENTRIES_MAX; i++)
		strcat(text, TOKEN "\n");
	assert_int_equal(make(&a, text, NULL, &e), -EINVAL);
	assert_non_null(strstr(e.msg, "too many"));
}

/* base64 of "ann:right horse", of another password, and of another name. */
#define RIGHT	"Basic YW5uOnJpZ2h0IGhvcnNl"
#define WRONG	"Basic YW5uOndyb25nIGhvcnNl"
#define UNKNOWN "Basic Ym9iOnJpZ2h0IGhvcnNl"

static void test_a_password_is_tried_once_and_remembered(void **state)
{
	AUTO_FREE char *first = user_line("zoe", "a much longer password than that of the other"),
		       *second = user_line("ann", "right horse"), *both = NULL;
	struct access_claim claim;
	struct access *a = NULL;

	(void)state;
	assert_true(asprintf(&both, "%s%s", first, second) > 0);
	assert_int_equal(make(&a, NULL, both, NULL), 0);
	assert_int_equal(access_judge(a, WRONG, &claim), ACCESS_TO_CHECK);
	assert_false(access_check(&claim));
	assert_int_equal(access_judge(a, UNKNOWN, &claim), ACCESS_TO_CHECK);
	assert_false(access_check(&claim));
	assert_int_equal(access_judge(a, RIGHT, &claim), ACCESS_TO_CHECK);
	assert_true(access_check(&claim));
	access_remember(a, &claim);
	assert_int_equal(access_judge(a, RIGHT, &claim), ACCESS_GRANTED);
	assert_int_equal(access_judge(a, WRONG, &claim), ACCESS_TO_CHECK);
	access_free(a);
}

/* For an unknown name the first user's hash is tried, for equal timing; a match must not let the
 * client in. */
static void test_an_unknown_name_with_a_known_password(void **state)
{
	AUTO_FREE char *line = user_line("ann", "right horse");
	struct access_claim claim;
	struct access *a = NULL;

	(void)state;
	assert_int_equal(make(&a, NULL, line, NULL), 0);
	assert_int_equal(access_judge(a, UNKNOWN, &claim), ACCESS_TO_CHECK);
	assert_false(access_check(&claim));
	access_remember(a, &claim); /* no user to remember */
	assert_int_equal(access_judge(a, UNKNOWN, &claim), ACCESS_TO_CHECK);
	access_free(a);
}

static void test_new_files_keep_unchanged_entries(void **state)
{
	AUTO_FREE char *ann = user_line("ann", "right horse"), *bob = user_line("bob", "another"),
		       *other = user_line("ann", "left horse"), *both = NULL;
	struct access *old = NULL, *more = NULL, *changed = NULL;
	struct access_claim claim;

	(void)state;
	assert_true(asprintf(&both, "%s%s", bob, ann) > 0);
	assert_int_equal(make(&old, NULL, ann, NULL), 0);
	assert_int_equal(make(&more, NULL, both, NULL), 0);
	assert_int_equal(make(&changed, NULL, other, NULL), 0);
	assert_int_equal(access_judge(old, RIGHT, &claim), ACCESS_TO_CHECK);
	access_remember(old, &claim);
	access_carry(more, old);
	access_carry(changed, old);
	assert_int_equal(access_judge(more, RIGHT, &claim), ACCESS_GRANTED);
	assert_int_equal(access_judge(changed, RIGHT, &claim), ACCESS_TO_CHECK);
	access_free(old);
	access_free(more);
	access_free(changed);
}

static void test_invalid_headers_are_rejected(void **state)
{
	static const char *const headers[] = {
		"Basic",	  "Basic ",	     "Basic ====",
		"Basic !!!!",	  "Basic YW5u",	     "Basic AAAA",
		"Basic YW5uOg=x", "Basic YW5uOg==x", "BasicYW5uOnJpZ2h0IGhvcnNl",
	};
	AUTO_FREE char *line = user_line("ann", "right horse");
	struct access *a = NULL;
	char *longest;

	(void)state;
	assert_int_equal(make(&a, NULL, line, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
		assert_int_equal(ask(a, headers[i]), ACCESS_REFUSED);
	longest = calloc(1, 20000);
	assert_non_null(longest);
	memcpy(longest, "Basic ", 6);
	memset(longest + 6, 'Y', 19000);
	assert_int_equal(ask(a, longest), ACCESS_REFUSED);
	memcpy(longest, "Bearer", 6);
	longest[6] = ' ';
	assert_int_equal(ask(a, longest), ACCESS_REFUSED);
	free(longest);
	access_free(a);
}

TEST_GROUP(access)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_token_must_match_completely),
		cmocka_unit_test(test_invalid_files_are_rejected_with_a_line),
		cmocka_unit_test(test_too_many_entries_are_rejected),
		cmocka_unit_test(test_a_password_is_tried_once_and_remembered),
		cmocka_unit_test(test_an_unknown_name_with_a_known_password),
		cmocka_unit_test(test_new_files_keep_unchanged_entries),
		cmocka_unit_test(test_invalid_headers_are_rejected),
	};

	return test_group_run(tests, NULL, NULL);
}
