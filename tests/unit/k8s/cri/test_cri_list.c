// SPDX-License-Identifier: Apache-2.0
/* A container runtime's list of sandboxes and their details: what the client queries, when, and how
 * often. */
#include "cri.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cri_fixture.h"
#include "test_group.h"

static void test_the_list_and_its_details(void **state)
{
	struct cri_status st;
	struct cri_fixture f;

	(void)state;
	cri_fixture_init(&f);
	cri_fixture_start(&f);
	cri_until(&f, cri_is_detailed);
	assert_string_equal(cri_get(&f, "aaa1")->netns, "/run/netns/a");
	assert_true(cri_get(&f, "aaa1")->ready);
	assert_null(cri_get(&f, "aaa1")->networks);
	assert_string_equal(cri_get(&f, "bbb2")->networks, three_sandboxes[1].networks);
	assert_string_equal(cri_get(&f, "bbb2")->uid, "u2");
	assert_true(cri_get(&f, "ccc3")->host_network);
	assert_string_equal(cri_get(&f, "ccc3")->netns, "");
	st = cri_status_of(&f);
	assert_string_equal(st.socket, f.path);
	assert_string_equal(st.runtime, "containerd 1.6.20");
	assert_int_equal(st.hints, CRI_HINTS_CONTAINERD);
	assert_int_equal(st.failed, 0);
	assert_string_equal(st.error, "");
	assert_int_equal(f.failures, 0);
	cri_fixture_stop(&f);
}

static void test_details_are_queried_once(void **state)
{
	struct cri_fixture f;

	(void)state;
	cri_fixture_init(&f);
	cri_fixture_start(&f);
	cri_until(&f, cri_is_detailed);
	cri_until(&f, cri_is_asked_five_times);
	assert_int_equal(f.fake.details, 3);
	cri_fixture_stop(&f);
}

static uint64_t refreshed_ms; /* time of the test's cri_refresh() */

static bool was_queried_later(struct cri_fixture *f)
{
	return f->asked_ms >= refreshed_ms;
}

static void test_a_refresh_is_answered_by_a_later_query(void **state)
{
	struct cri_fixture f;

	(void)state;
	cri_fixture_init(&f);
	cri_fixture_start(&f);
	cri_until(&f, cri_is_known);
	for (int i = 0; i < 3; i++) {
		uv_update_time(&f.loop);
		refreshed_ms = uv_now(&f.loop);
		cri_refresh(f.cri);
		cri_until(&f, was_queried_later);
	}
	cri_fixture_stop(&f);
}

/* Requests a refresh each time the loop runs. */
static bool is_listed_ten_times(struct cri_fixture *f)
{
	cri_refresh(f->cri);
	return f->fake.lists >= 10;
}

static void test_refreshes_are_spaced(void **state)
{
	uint64_t began_ms;
	struct cri_fixture f;

	(void)state;
	cri_fixture_init(&f);
	cri_fixture_start(&f);
	cri_until(&f, cri_is_known);
	f.fake.lists = 0;
	uv_update_time(&f.loop);
	began_ms = uv_now(&f.loop);
	cri_until(&f, is_listed_ten_times);
	/* at least 4 ms apart, less the millisecond that a clock may round off */
	assert_true(uv_now(&f.loop) - began_ms >= 9 * 3);
	cri_fixture_stop(&f);
}

static bool has_netns(struct cri_fixture *f)
{
	const struct sandbox *s = cri_get(f, f->id);

	return s && s->netns[0];
}

/* The details of a sandbox without a namespace are queried again. */
static void test_a_namespace_that_is_reported_later(void **state)
{
	struct fake_sandbox one = three_sandboxes[0];
	struct cri_fixture f;

	(void)state;
	cri_fixture_init(&f);
	one.netns = NULL;
	fake_cri_set(&f.fake, &one, 1);
	cri_fixture_start(&f);
	cri_until(&f, cri_is_detailed);
	assert_string_equal(cri_get(&f, "aaa1")->netns, "");
	assert_false(cri_get(&f, "aaa1")->host_network);
	fake_cri_set(&f.fake, three_sandboxes, 1);
	f.id = "aaa1";
	cri_until(&f, has_netns);
	cri_fixture_stop(&f);
}

static bool has_the_maximum_of_queries(struct cri_fixture *f)
{
	return f->fake.open_details == 8;
}

static void test_many_sandboxes(void **state)
{
	struct fake_sandbox *many = calloc(300, sizeof(*many));
	char(*ids)[16] = calloc(300, 16);
	struct cri_fixture f;

	(void)state;
	assert_non_null(many);
	assert_non_null(ids);
	for (size_t i = 0; i < 300; i++) {
		snprintf(ids[i], 16, "id%zu", 997 * i % 300);
		many[i] = (struct fake_sandbox){
			.id = ids[i], .namespace = "n", .pod = ids[i], .netns = "/run/netns/x"};
	}
	cri_fixture_init(&f);
	fake_cri_set(&f.fake, many, 300);
	f.fake.mute_details = true;
	cri_fixture_start(&f);
	cri_until(&f, has_the_maximum_of_queries);
	fake_cri_answer_details(&f.fake);
	cri_until(&f, cri_is_detailed);
	assert_int_equal(cri_sandboxes(f.cri)->n, 300);
	assert_int_equal(f.fake.most_details, 8);
	assert_int_equal(f.fake.details, 300);
	cri_fixture_stop(&f);
	free(many);
	free(ids);
}

static bool has_three_queries(struct cri_fixture *f)
{
	return f->fake.open_details == 3;
}

static bool has_one(struct cri_fixture *f)
{
	return cri_sandboxes(f->cri)->n == 1;
}

static void test_a_sandbox_removed_during_its_query(void **state)
{
	struct cri_fixture f;

	(void)state;
	cri_fixture_init(&f);
	f.fake.mute_details = true;
	cri_fixture_start(&f);
	cri_until(&f, has_three_queries);
	fake_cri_set(&f.fake, three_sandboxes, 1);
	cri_refresh(f.cri);
	cri_until(&f, has_one);
	fake_cri_set(&f.fake, three_sandboxes, 3); /* further answers have the full details */
	fake_cri_answer_details(&f.fake);
	fake_cri_set(&f.fake, three_sandboxes, 1);
	cri_until(&f, cri_is_detailed);
	assert_true(has_one(&f));
	cri_fixture_stop(&f);
}

TEST_GROUP(cri_list)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_list_and_its_details),
		cmocka_unit_test(test_details_are_queried_once),
		cmocka_unit_test(test_a_refresh_is_answered_by_a_later_query),
		cmocka_unit_test(test_refreshes_are_spaced),
		cmocka_unit_test(test_a_namespace_that_is_reported_later),
		cmocka_unit_test(test_many_sandboxes),
		cmocka_unit_test(test_a_sandbox_removed_during_its_query),
	};

	return test_group_run(tests, NULL, NULL);
}
