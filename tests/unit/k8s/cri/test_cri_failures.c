// SPDX-License-Identifier: Apache-2.0
/* A container runtime that restarts, refuses, answers invalidly or not at all, and a client that is
 * closed or runs out of memory at any moment. */
#include "cri.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cri_fixture.h"
#include "faults.h"
#include "loop_helpers.h"
#include "test_group.h"
#include "uds.h"

/* --- restarts -------------------------------------------------------------------------------- */

static void test_a_restart(void **state)
{
	struct cri_fixture f;

	(void)state;
	cri_fixture_init(&f);
	cri_fixture_start(&f);
	cri_until(&f, cri_is_listened_to);
	cri_until(&f, cri_is_detailed);
	fake_cri_stop(&f.fake, false);
	fake_cri_set(&f.fake, three_sandboxes, 2);
	loop_wakeups(&f.loop, 100);
	/* a short outage does not make the list unknown */
	assert_true(cri_sandboxes(f.cri)->known);
	assert_int_equal(cri_sandboxes(f.cri)->n, 3);
	f.fake.version = "1.7.24";
	fake_cri_start(&f.fake);
	f.id = "ccc3";
	cri_until(&f, cri_is_gone);
	cri_until(&f, cri_is_listened_to);
	assert_string_equal(cri_status_of(&f).runtime, "containerd 1.7.24");
	assert_string_equal(cri_status_of(&f).error, "");
	assert_int_equal(f.fake.details, 3); /* known details are kept */
	cri_fixture_stop(&f);
}

static bool has_two_greetings(struct cri_fixture *f)
{
	return f->fake.greetings >= 2;
}

/* The previous runtime still answers, but its socket is no longer the one at the path. */
static void test_a_socket_that_is_replaced(void **state)
{
	struct uds_server *before;
	struct cri_fixture f;

	(void)state;
	cri_fixture_init(&f);
	cri_fixture_start(&f);
	cri_until(&f, cri_is_listened_to);
	before = f.fake.server;
	f.fake.stream = NULL;
	fake_cri_start(&f.fake);
	cri_until(&f, has_two_greetings);
	cri_until(&f, cri_is_listened_to);
	uds_server_close(before);
	assert_non_null(f.fake.stream);
	cri_fixture_stop(&f);
}

static void test_a_stream_that_ends(void **state)
{
	struct cri_fixture f;

	(void)state;
	cri_fixture_init(&f);
	cri_fixture_start(&f);
	cri_fixture_calm(&f); /* so that the stream has lasted longer than a second */
	fake_cri_end_events(&f.fake, GRPC_OK);
	cri_until(&f, has_two_greetings);
	cri_until(&f, cri_is_listened_to);
	assert_int_equal(f.failures, 0);
	cri_fixture_stop(&f);
}

/* --- answers --------------------------------------------------------------------------------- */

static void test_a_list_that_is_refused(void **state)
{
	struct cri_fixture f;

	(void)state;
	cri_fixture_init(&f);
	f.fake.refusals = 2;
	cri_fixture_start(&f);
	cri_until(&f, cri_has_failed);
	assert_non_null(strstr(cri_status_of(&f).error, "server is not initialized yet"));
	cri_until(&f, cri_is_detailed);
	assert_int_equal(f.failures, 2);
	assert_int_equal(cri_status_of(&f).failed, 2);
	cri_fixture_stop(&f);
}

static void test_an_invalid_list(void **state)
{
	static uint8_t large[17 << 20];
	struct cri_fixture f;

	(void)state;
	cri_fixture_init(&f);
	f.fake.answer = (const uint8_t *)"\xff\xff\xff";
	f.fake.answer_len = 3;
	cri_fixture_start(&f);
	cri_until(&f, cri_has_failed);
	assert_false(cri_sandboxes(f.cri)->known);
	f.failures = 0;
	f.fake.answer = large; /* a field number 0 */
	f.fake.answer_len = 10 << 20;
	cri_until(&f, cri_has_failed);
	f.failures = 0;
	for (size_t i = 0; i < sizeof(large); i += 2)
		large[i] = 0x0a; /* five million empty sandboxes */
	cri_until(&f, cri_has_failed);
	assert_false(cri_sandboxes(f.cri)->known);
	f.failures = 0;
	f.fake.answer_len = sizeof(large);
	cri_until(&f, cri_has_failed);
	assert_non_null(strstr(cri_status_of(&f).error, "larger than 16777216 bytes"));
	f.fake.answer = NULL;
	cri_until(&f, cri_is_detailed);
	cri_fixture_stop(&f);
}

/* After five seconds the list is unknown; its entries are kept, but do not count as current. */
static void test_a_runtime_that_does_not_answer(void **state)
{
	struct cri_fixture f;

	(void)state;
	cri_fixture_init(&f);
	cri_fixture_start(&f);
	cri_until(&f, cri_is_detailed);
	f.fake.silent = true;
	f.failures = 0;
	cri_refresh(f.cri);
	cri_until(&f, cri_is_unknown);
	cri_until(&f, cri_has_failed);
	assert_int_equal(cri_sandboxes(f.cri)->n, 3);
	assert_non_null(strstr(cri_status_of(&f).error, "DEADLINE_EXCEEDED"));
	f.fake.silent = false;
	cri_until(&f, cri_is_known);
	cri_fixture_stop(&f);
}

/* --- ends ------------------------------------------------------------------------------------ */

static void test_closing_at_any_moment(void **state)
{
	struct cri_fixture f;

	(void)state;
	for (unsigned turns = 0; turns < 30; turns++) {
		cri_fixture_init(&f);
		f.fake.mute_details = turns % 2;
		cri_fixture_start(&f);
		for (unsigned i = 0; i < turns; i++)
			uv_run(&f.loop, UV_RUN_NOWAIT);
		cri_fixture_stop(&f);
	}
	cri_fixture_init(&f);
	f.fake.silent = true;
	cri_fixture_start(&f);
	loop_wakeups(&f.loop, 20);
	cri_fixture_stop(&f);
}

static bool is_closed(struct cri_fixture *f)
{
	return f->closed;
}

static void test_closing_from_the_callback(void **state)
{
	struct cri_fixture f;

	(void)state;
	cri_fixture_init(&f);
	f.close_in_callback = true;
	cri_fixture_start(&f);
	cri_until(&f, is_closed);
	cri_fixture_stop(&f);
	cri_fixture_init(&f);
	f.close_in_callback = true;
	cri_fixture_open(&f);
	cri_until(&f, is_closed);
	cri_fixture_stop(&f);
}

/* Whichever of our allocations fails, it is reported and retried. */
static void test_no_memory(void **state)
{
	struct cri_fixture f;

	(void)state;
	for (long nth = 0; nth < 60; nth++) {
		struct err e = {0};

		cri_fixture_init(&f);
		fake_cri_start(&f.fake);
		faults_alloc(nth);
		if (cri_fixture_try(&f, f.path, &e) == 0) {
			for (unsigned i = 0; i < 12; i++)
				uv_run(&f.loop, UV_RUN_NOWAIT);
			faults_end();
			cri_until(&f, cri_is_detailed);
		} else {
			faults_end();
			f.closed = true;
		}
		cri_fixture_stop(&f);
	}
}

TEST_GROUP(cri_failures)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_restart),
		cmocka_unit_test(test_a_socket_that_is_replaced),
		cmocka_unit_test(test_a_stream_that_ends),
		cmocka_unit_test(test_a_list_that_is_refused),
		cmocka_unit_test(test_an_invalid_list),
		cmocka_unit_test(test_a_runtime_that_does_not_answer),
		cmocka_unit_test(test_closing_at_any_moment),
		cmocka_unit_test(test_closing_from_the_callback),
		cmocka_unit_test(test_no_memory),
	};

	return test_group_run(tests, NULL, NULL);
}
