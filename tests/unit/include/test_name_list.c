// SPDX-License-Identifier: Apache-2.0
/* No name is cut, and those that are left out are counted. */
#include "name_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <string.h>

#include "test_group.h"

static void test_names_that_fit(void **state)
{
	char text[64];
	struct name_list l = name_list_in(text, sizeof(text));

	(void)state;
	assert_string_equal(text, "");
	name_list_add(&l, "rocelet.dev/a");
	assert_string_equal(text, "rocelet.dev/a");
	name_list_add(&l, "b");
	assert_string_equal(text, "rocelet.dev/a, b");
	assert_int_equal(l.n, 2);
}

static void test_names_that_do_not_fit_are_counted(void **state)
{
	char text[48];
	struct name_list l = name_list_in(text, sizeof(text));

	(void)state;
	name_list_add(&l, "rocelet.dev/a");
	name_list_add(&l, "rocelet.dev/b");
	assert_string_equal(text, "rocelet.dev/a and 1 more");
	name_list_add(&l, "c");
	assert_string_equal(text, "rocelet.dev/a and 2 more");
	assert_int_equal(l.n, 3);
}

static void test_a_first_name_that_does_not_fit(void **state)
{
	char text[NAME_LIST_LEAST];
	struct name_list l = name_list_in(text, sizeof(text));

	(void)state;
	name_list_add(&l, "a name that is too long for it");
	name_list_add(&l, "b");
	assert_string_equal(text, "2");
}

TEST_GROUP(name_list)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_that_fit),
		cmocka_unit_test(test_names_that_do_not_fit_are_counted),
		cmocka_unit_test(test_a_first_name_that_does_not_fit),
	};

	return test_group_run(tests, NULL, NULL);
}
