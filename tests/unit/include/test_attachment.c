// SPDX-License-Identifier: Apache-2.0
/* Transitions between states, and the alias of a netdev. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attachment.h"
#include "cleanup.h"
#include "test_group.h"

static void test_states_have_names(void **state)
{
	(void)state;
	assert_string_equal(attach_state_name(ATTACH_FREE), "free");
	assert_string_equal(attach_state_name(ATTACH_ATTACHING), "attaching");
	assert_string_equal(attach_state_name(ATTACH_IN_POD), "in_pod");
	assert_string_equal(attach_state_name(ATTACH_RETURNING), "returning");
	assert_string_equal(attach_state_name(ATTACH_BAD), "bad");
	assert_string_equal(attach_state_name((enum attach_state)99), "unknown");
}

/* Rows: from this state; columns: to this state. */
static void test_transitions(void **state)
{
	static const char *const table[] = {
		/* FREE ATTACHING IN_POD RETURNING BAD */
		"-x--x", "--xx-", "---x-", "x---x", "---x-",
	};
	(void)state;

	for (int from = ATTACH_FREE; from <= ATTACH_BAD; from++)
		for (int to = ATTACH_FREE; to <= ATTACH_BAD; to++)
			assert_int_equal(attach_state_may_become(from, to), table[from][to] == 'x');
	assert_false(attach_state_may_become(ATTACH_BAD + 1, ATTACH_FREE));
	assert_false(attach_state_may_become(ATTACH_FREE, ATTACH_BAD + 1));
	assert_false(attach_state_may_become(ATTACH_FREE, (enum attach_state) - 1));
}

static struct attach_record a_record(void)
{
	struct attach_record r = {0};

	strcpy(r.origin.name, "ens1f0v3");
	strcpy(r.owner.namespace, "ml");
	strcpy(r.owner.pod, "train-7");
	strcpy(r.owner.uid, "0b0e1a5c-8a51-4f6c-9f57-3c1b2d4e5f60");
	return r;
}

static void test_an_alias_names_the_origin_and_the_owner(void **state)
{
	struct attach_record r = a_record();
	char alias[ATTACH_ALIAS_SIZE], name[IFNAMSIZ];
	(void)state;

	attach_alias(&r, alias);
	assert_string_equal(alias,
			    "rocelet ens1f0v3 ml/train-7 0b0e1a5c-8a51-4f6c-9f57-3c1b2d4e5f60");
	assert_true(attach_alias_origin(alias, name));
	assert_string_equal(name, "ens1f0v3");
}

static void test_an_alias_without_a_pod(void **state)
{
	struct attach_record r = a_record();
	char alias[ATTACH_ALIAS_SIZE], name[IFNAMSIZ];
	(void)state;

	r.owner.uid[0] = '\0';
	attach_alias(&r, alias);
	assert_string_equal(alias, "rocelet ens1f0v3 ml/train-7");
	r.owner.pod[0] = '\0';
	attach_alias(&r, alias);
	assert_string_equal(alias, "rocelet ens1f0v3");
	assert_true(attach_alias_origin(alias, name));
	assert_string_equal(name, "ens1f0v3");
}

/* With every part at its longest, the pod's name is cut and the UID is complete. */
static void test_the_longest_alias_fits(void **state)
{
	struct attach_record r = {0};
	char alias[ATTACH_ALIAS_SIZE], name[IFNAMSIZ];
	const char *uid;
	(void)state;

	memset(r.origin.name, 'n', sizeof(r.origin.name) - 1);
	memset(r.owner.namespace, 's', sizeof(r.owner.namespace) - 1);
	memset(r.owner.pod, 'p', sizeof(r.owner.pod) - 1);
	memset(r.owner.uid, 'u', sizeof(r.owner.uid) - 1);
	attach_alias(&r, alias);
	assert_int_equal(strlen(alias), ATTACH_ALIAS_SIZE - 1);
	uid = strrchr(alias, ' ');
	assert_string_equal(uid + 1, r.owner.uid);
	assert_int_equal(uid[-1], 'p');
	assert_true(attach_alias_origin(alias, name));
	assert_string_equal(name, r.origin.name);
}

static void test_other_aliases_are_not_ours(void **state)
{
	static const char *const others[] = {
		"",
		"rocelet",
		"rocelet ",
		"rocelet  ml/train-7 uid",
		"Rocelet ens1 a/b c",
		" rocelet ens1 a/b c",
		"rocelets ens1 a/b c",
		"rocelet abcdefghijklmnop a/b c", /* 16 bytes: too long for a netdev */
		"rocelet . a/b c",
		"rocelet .. a/b c",
		"rocelet ../etc a/b c",
		"rocelet eth0:1 a/b c",
		"rocelet eth\t0 a/b c",
		"rocelet eth\xa0 a/b c",
		"uplink to leaf 3",
	};
	char name[IFNAMSIZ] = "untouched";
	(void)state;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (attach_alias_origin(others[i], name))
			fail_msg("\"%s\" is accepted as ours", others[i]);
		assert_string_equal(name, "untouched");
	}
	assert_true(attach_alias_origin("rocelet ... a/b c", name));
	assert_string_equal(name, "...");
	assert_true(attach_alias_origin("rocelet n\x01\x7f\xff a/b c", name));
	assert_string_equal(name, "n\x01\x7f\xff");
}

static void test_the_uid_of_an_alias(void **state)
{
	static const char *const none[] = {
		"",
		"roc",
		"rocelet ",
		"rocelet ens1",
		"rocelet ens1 a/b",
		"rocelet ens1 a/b ",
		"rocelet ens1 a/b ../../x",
		"rocelet ens1 a/b x y",
		"rocelet ens1 a/b x\x1b[2J",
		"uplink to leaf-3 x",
	};
	char uid[POD_UID_SIZE];
	(void)state;

	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		/* on the heap, so that sanitizers find a read past its end */
		char *alias = strdup(none[i]);

		strcpy(uid, "before");
		attach_alias_uid(alias, uid);
		assert_string_equal(uid, "");
		free(alias);
	}
	attach_alias_uid("rocelet ens1 a/b 8dbc5577-d0e2-4706-8787-57d52c03ddf2", uid);
	assert_string_equal(uid, "8dbc5577-d0e2-4706-8787-57d52c03ddf2");
}

TEST_GROUP(attachment)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states_have_names),
		cmocka_unit_test(test_transitions),
		cmocka_unit_test(test_an_alias_names_the_origin_and_the_owner),
		cmocka_unit_test(test_an_alias_without_a_pod),
		cmocka_unit_test(test_the_longest_alias_fits),
		cmocka_unit_test(test_other_aliases_are_not_ours),
		cmocka_unit_test(test_the_uid_of_an_alias),
	};

	return test_group_run(tests, NULL, NULL);
}
