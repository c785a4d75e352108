// SPDX-License-Identifier: Apache-2.0
/* Undecided causes: equal lists are stored once, for as long as a port or a reader needs them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include "test_group.h"
#include "undecided.h"

static const char hidden[] = "is not visible";
static const struct undecided two[] = {{hidden, CAUSE_PACKET_LOSS, SERIES_CE},
				       {hidden, CAUSE_INCAST, -1}};

static void ports_share_equal_lists(void **state)
{
	struct undecided_lists all = {0};
	struct undecided_list *a = NULL, *b = NULL, *c = NULL;
	(void)state;

	assert_int_equal(undecided_set(&all, &a, two, 2), 0);
	assert_int_equal(undecided_set(&all, &b, two, 2), 0);
	assert_int_equal(undecided_set(&all, &c, two, 1), 0);
	assert_ptr_equal(a, b);
	assert_ptr_not_equal(a, c);
	assert_int_equal(all.n, 2);
	assert_int_equal(a->n_users, 2);
	assert_int_equal(c->n, 1);
	assert_int_equal(undecided_set(&all, &b, NULL, 0), 0);
	assert_null(b);
	assert_int_equal(a->n_users, 1);
	undecided_done(&all);
}

static void an_unused_list_stays_until_the_sweep(void **state)
{
	struct undecided_lists all = {0};
	struct undecided_list *a = NULL, *old;
	(void)state;

	undecided_set(&all, &a, two, 2);
	old = a;
	undecided_set(&all, &a, two, 1);
	assert_int_equal(old->n_users, 0);
	assert_int_equal(old->items[1].cause, CAUSE_INCAST);
	undecided_set(&all, &a, two, 2);
	assert_ptr_equal(a, old);
	undecided_sweep(&all);
	assert_int_equal(all.n, 1);
	assert_ptr_equal(all.lists[0], old);
	for (int i = 0; i < 40; i++) {
		struct undecided other = {hidden, CAUSE_REORDERING, i};

		assert_int_equal(undecided_set(&all, &a, &other, 1), 0);
	}
	assert_int_equal(a->items[0].missing, 39);
	undecided_sweep(&all);
	assert_int_equal(all.n, 1);
	undecided_done(&all);
}

TEST_GROUP(undecided)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ports_share_equal_lists),
		cmocka_unit_test(an_unused_list_stays_until_the_sweep),
	};

	return test_group_run(tests, NULL, NULL);
}
