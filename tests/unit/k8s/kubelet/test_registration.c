// SPDX-License-Identifier: Apache-2.0
/* The registration plan as a pure function: the tests advance a simulated clock, nothing sleeps. */
#include "registration.h"
#include "test_group.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define ATTEMPT (registration_attempt(&r->plan))

/* A plan and its clock. */
struct run {
	struct registration_plan plan;
	uint64_t now_ms;
};

static void start(struct run *r, bool registry)
{
	*r = (struct run){.now_ms = 100000};
	registration_init(&r->plan, r->now_ms);
	if (registry)
		registration_join_registry(&r->plan);
}

static enum registration_step step(struct run *r)
{
	uint64_t wake_ms;

	return registration_next(&r->plan, r->now_ms, &wake_ms);
}

/* Advances the clock until the plan's next step is due; returns how many ms that took. */
static uint64_t sleep_until_due(struct run *r, enum registration_step expected)
{
	uint64_t wake_ms, start_ms = r->now_ms;
	enum registration_step got;

	while ((got = registration_next(&r->plan, r->now_ms, &wake_ms)) == REGISTRATION_WAIT) {
		if (wake_ms == UINT64_MAX)
			fail_msg("waits for ever after %u ms", (unsigned)(r->now_ms - start_ms));
		assert_true(wake_ms > r->now_ms);
		r->now_ms = wake_ms;
	}
	assert_int_equal(got, expected);
	return r->now_ms - start_ms;
}

static void assert_sleeps_for_ever(struct run *r)
{
	uint64_t wake_ms;

	assert_int_equal(registration_next(&r->plan, r->now_ms, &wake_ms), REGISTRATION_WAIT);
	assert_true(wake_ms == UINT64_MAX);
}

/* The state before Register: kubelet and list exist, our socket serves. */
static void start_calling(struct run *r)
{
	start(r, false);
	registration_kubelet(&r->plan, true, true, r->now_ms);
	registration_want(&r->plan, r->now_ms);
	assert_int_equal(step(r), REGISTRATION_SERVE);
	registration_serving(&r->plan, true, r->now_ms);
	assert_int_equal(step(r), REGISTRATION_CALL);
	assert_sleeps_for_ever(r);
}

static void answer(struct run *r, enum registration_answer a, const char *why)
{
	registration_answered(&r->plan, ATTEMPT, a, why, r->now_ms);
}

static void start_registered(struct run *r)
{
	start_calling(r);
	/* the watch may begin before Register returns */
	registration_watched(&r->plan, 1, r->now_ms);
	assert_false(registration_works(&r->plan));
	answer(r, REGISTRATION_OK, NULL);
	assert_true(registration_works(&r->plan));
	assert_int_equal(r->plan.registrations, 1);
	assert_sleeps_for_ever(r);
}

static void test_without_a_list_it_does_nothing(void **state)
{
	struct run r;

	(void)state;
	start(&r, false);
	registration_kubelet(&r.plan, true, true, r.now_ms);
	assert_sleeps_for_ever(&r);
	registration_want(&r.plan, r.now_ms);
	assert_int_equal(step(&r), REGISTRATION_SERVE);
}

static void test_serves_before_it_registers(void **state)
{
	struct run r;

	(void)state;
	start_registered(&r);
}

static void test_without_a_kubelet_it_sleeps(void **state)
{
	struct run r;

	(void)state;
	start(&r, false);
	registration_kubelet(&r.plan, false, true, r.now_ms);
	registration_want(&r.plan, r.now_ms);
	assert_int_equal(step(&r), REGISTRATION_SERVE);
	registration_serving(&r.plan, true, r.now_ms);
	assert_sleeps_for_ever(&r);
	r.now_ms += 3600000;
	registration_kubelet(&r.plan, true, true, r.now_ms);
	assert_int_equal(step(&r), REGISTRATION_CALL);
}

/* A kubelet admits pods a moment after it listens. */
static void test_a_new_socket_is_tried_quickly(void **state)
{
	static const uint64_t first[] = {1, 2, 5, 10, 20, 50};
	uint64_t began, pause;
	unsigned tries = 0;
	struct run r;

	(void)state;
	start_calling(&r);
	for (int kubelets = 0; kubelets < 2; kubelets++) {
		for (began = r.now_ms, tries = 0; r.now_ms - began < 2000; tries++) {
			answer(&r, REGISTRATION_NO_LISTENER, NULL);
			pause = sleep_until_due(&r, REGISTRATION_CALL);
			assert_int_equal(pause, first[tries < 6 ? tries : 5]);
		}
		assert_true(tries <= 50);
		answer(&r, REGISTRATION_NO_LISTENER, NULL);
		registration_kubelet(&r.plan, true, true, r.now_ms);
		sleep_until_due(&r, REGISTRATION_CALL);
	}
	assert_int_equal(r.plan.failures, 0); /* no kubelet answered, so none failed */
}

/* Register is not repeated before the kubelet has answered it. */
static void test_our_socket_deleted_while_we_register(void **state)
{
	struct run r;

	(void)state;
	start_calling(&r);
	registration_serving(&r.plan, false, r.now_ms);
	assert_int_equal(sleep_until_due(&r, REGISTRATION_SERVE), 0);
	registration_serving(&r.plan, true, r.now_ms);
	assert_sleeps_for_ever(&r);
	answer(&r, REGISTRATION_OK, NULL);
	registration_watched(&r.plan, 1, r.now_ms);
	assert_true(registration_works(&r.plan));
	assert_sleeps_for_ever(&r);

	/* The kubelet could not connect to the deleted socket. */
	start_calling(&r);
	registration_serving(&r.plan, false, r.now_ms);
	assert_int_equal(step(&r), REGISTRATION_SERVE);
	registration_serving(&r.plan, true, r.now_ms);
	answer(&r, REGISTRATION_REFUSED, "cannot dial");
	assert_int_equal(sleep_until_due(&r, REGISTRATION_CALL), 20);
}

/* A socket file without a listener: retried each second for ten seconds, then every ten seconds. */
static void test_a_dead_socket_costs_little(void **state)
{
	uint64_t began, pause = 0;
	unsigned tries = 0;
	struct run r;

	(void)state;
	start_calling(&r);
	for (began = r.now_ms; r.now_ms - began < 3600000; tries++) {
		answer(&r, REGISTRATION_NO_LISTENER, NULL);
		pause = sleep_until_due(&r, REGISTRATION_CALL);
		if (r.now_ms - began < 10000)
			assert_true(pause <= 1000);
	}
	assert_int_equal(pause, 10000);
	assert_true(tries < 45 + 20 + 360);

	answer(&r, REGISTRATION_NO_LISTENER, NULL);
	r.now_ms += 21;
	registration_kubelet(&r.plan, true, false, r.now_ms); /* another process touched the file */
	assert_int_equal(step(&r), REGISTRATION_CALL);
}

/* Another process keeps touching kubelet.sock: at most 50 attempts a second, besides the first
 * quick ones. */
static void test_frequent_hints_cause_few_attempts(void **state)
{
	unsigned calls = 0;
	struct run r;
	int i;

	(void)state;
	start_calling(&r);
	answer(&r, REGISTRATION_NO_LISTENER, NULL);
	for (i = 0; i < 1000; i++) {
		r.now_ms++;
		registration_kubelet(&r.plan, true, false, r.now_ms);
		if (step(&r) != REGISTRATION_CALL)
			continue;
		calls++;
		answer(&r, REGISTRATION_NO_LISTENER, NULL);
	}
	assert_true(calls >= 40 && calls <= 55);
}

static void test_refusals_are_reported_and_retried_more_slowly(void **state)
{
	static const uint64_t pauses[] = {20, 40, 80, 160, 320, 640, 1000, 1000};
	struct run r;
	size_t i;

	(void)state;
	start_calling(&r);
	for (i = 0; i < sizeof(pauses) / sizeof(pauses[0]); i++) {
		answer(&r, REGISTRATION_REFUSED, "unsupported");
		assert_true(r.plan.refused);
		assert_string_equal(r.plan.error, "unsupported");
		assert_int_equal(sleep_until_due(&r, REGISTRATION_CALL), pauses[i]);
	}
	assert_int_equal(r.plan.failures, i);
	answer(&r, REGISTRATION_OK, NULL);
	assert_false(r.plan.refused);
	assert_string_equal(r.plan.error, "");
}

static void test_a_timeout_is_a_failure_but_not_a_refusal(void **state)
{
	struct run r;

	(void)state;
	start_calling(&r);
	r.now_ms += 10000;
	answer(&r, REGISTRATION_NO_REPLY, "no answer");
	assert_false(r.plan.refused);
	assert_int_equal(r.plan.failures, 1);
	assert_string_equal(r.plan.error, "no answer");
	sleep_until_due(&r, REGISTRATION_CALL);
}

static void test_an_old_answer_does_not_count_for_a_new_kubelet(void **state)
{
	unsigned old;
	struct run r;

	(void)state;
	start_calling(&r);
	old = registration_attempt(&r.plan);
	r.now_ms += 30;
	registration_kubelet(&r.plan, true, true, r.now_ms);
	registration_answered(&r.plan, old, REGISTRATION_OK, NULL, r.now_ms);
	assert_false(r.plan.registered);
	assert_int_equal(r.plan.registrations, 0);
	assert_int_equal(step(&r), REGISTRATION_CALL);
	registration_answered(&r.plan, old, REGISTRATION_OK, NULL, r.now_ms);
	assert_false(r.plan.registered);
	registration_answered(&r.plan, registration_attempt(&r.plan), REGISTRATION_OK, NULL,
			      r.now_ms);
	assert_true(r.plan.registered);
}

/* The kubelet dies and leaves its file; the next one deletes our socket and creates its own. */
static void test_a_restart(void **state)
{
	struct run r;
	int i;

	(void)state;
	start_registered(&r);
	for (i = 0; i < 50; i++) {
		r.now_ms += 60000;
		registration_watched(&r.plan, 0, r.now_ms);
		assert_false(registration_works(&r.plan));
		assert_int_equal(sleep_until_due(&r, REGISTRATION_CALL), 20);
		answer(&r, REGISTRATION_NO_LISTENER, NULL);
		r.now_ms += 5000;
		registration_serving(&r.plan, false, r.now_ms);
		assert_int_equal(step(&r), REGISTRATION_SERVE);
		registration_serving(&r.plan, true, r.now_ms);
		r.now_ms += 20;
		registration_kubelet(&r.plan, true, true, r.now_ms);
		assert_int_equal(step(&r), REGISTRATION_CALL);
		registration_watched(&r.plan, 1, r.now_ms);
		answer(&r, REGISTRATION_OK, NULL);
		assert_true(registration_works(&r.plan));
	}
	assert_int_equal(r.plan.registrations, 51);
	assert_int_equal(r.plan.failures, 0);
}

/* The new kubelet appears before the old one's watch has ended: the plan ends that watch, then
 * pauses before Register. */
static void test_a_new_kubelet_while_the_old_one_watches(void **state)
{
	struct run r;

	(void)state;
	start_registered(&r);
	r.now_ms += 60000;
	registration_kubelet(&r.plan, true, true, r.now_ms);
	assert_false(registration_works(&r.plan));
	assert_int_equal(step(&r), REGISTRATION_SERVE);
	registration_watched(&r.plan, 0, r.now_ms);
	registration_serving(&r.plan, true, r.now_ms);
	assert_int_equal(sleep_until_due(&r, REGISTRATION_CALL), 20);
}

static void test_our_socket_deleted(void **state)
{
	struct run r;

	(void)state;
	start_registered(&r);
	r.now_ms += 60000;
	registration_serving(&r.plan, false, r.now_ms);
	assert_int_equal(step(&r), REGISTRATION_SERVE);
	registration_watched(&r.plan, 0, r.now_ms);
	registration_serving(&r.plan, true, r.now_ms);
	assert_int_equal(sleep_until_due(&r, REGISTRATION_CALL), 20);
}

/* The kubelet accepts each Register and ends the watch at once. */
static void test_a_kubelet_that_drops_us_is_retried_with_backoff(void **state)
{
	unsigned i, n = 0;
	uint64_t began;
	struct run r;

	(void)state;
	start_calling(&r);
	for (began = r.now_ms; r.now_ms - began < 60000; n++) {
		answer(&r, REGISTRATION_OK, NULL);
		registration_watched(&r.plan, 1, r.now_ms);
		r.now_ms += 5;
		registration_watched(&r.plan, 0, r.now_ms);
		sleep_until_due(&r, REGISTRATION_CALL);
	}
	assert_true(n < 30);
	/* A watch that lasted starts from the shortest pause again. */
	for (i = 0; i < 2; i++) {
		answer(&r, REGISTRATION_OK, NULL);
		registration_watched(&r.plan, 1, r.now_ms);
		r.now_ms += 10000;
		registration_watched(&r.plan, 0, r.now_ms);
		assert_int_equal(sleep_until_due(&r, REGISTRATION_CALL), 20);
	}
}

static void test_registered_but_never_watched(void **state)
{
	struct run r;

	(void)state;
	start_calling(&r);
	answer(&r, REGISTRATION_OK, NULL);
	assert_int_equal(sleep_until_due(&r, REGISTRATION_CALL), 10000);
	assert_int_equal(r.plan.failures, 1);
	assert_non_null(strstr(r.plan.error, "does not watch"));
}

/* The watch may end before Register returns. */
static void test_a_watch_that_ends_before_the_answer(void **state)
{
	struct run r;

	(void)state;
	start_calling(&r);
	registration_watched(&r.plan, 1, r.now_ms);
	registration_watched(&r.plan, 0, r.now_ms);
	answer(&r, REGISTRATION_OK, NULL);
	assert_true(sleep_until_due(&r, REGISTRATION_CALL) <= 40);
	answer(&r, REGISTRATION_OK, NULL);
	assert_int_equal(sleep_until_due(&r, REGISTRATION_CALL), 10000);
}

static void test_a_socket_that_cannot_be_created(void **state)
{
	struct run r;
	uint64_t pause = 0;
	int i;

	(void)state;
	start(&r, false);
	registration_kubelet(&r.plan, true, true, r.now_ms);
	registration_want(&r.plan, r.now_ms);
	for (i = 0; i < 40; i++) {
		pause = i ? sleep_until_due(&r, REGISTRATION_SERVE) : 0;
		if (!i)
			assert_int_equal(step(&r), REGISTRATION_SERVE);
		registration_not_serving(&r.plan, "no folder", r.now_ms);
	}
	assert_int_equal(pause, 10000);
	assert_string_equal(r.plan.error, "no folder");
	r.now_ms += 20;
	registration_folder(&r.plan, r.now_ms); /* the file exists now */
	assert_int_equal(step(&r), REGISTRATION_SERVE);
	registration_serving(&r.plan, true, r.now_ms);
	assert_int_equal(step(&r), REGISTRATION_CALL);
}

/* --- registry -------------------------------------------------------------------------------- */

static void start_found(struct run *r)
{
	start(r, true);
	registration_kubelet(&r->plan, true, true, r->now_ms);
	registration_want(&r->plan, r->now_ms);
	assert_int_equal(step(r), REGISTRATION_SERVE);
	registration_serving(&r->plan, true, r->now_ms);
	r->now_ms += 500;
	registration_asked(&r->plan, r->now_ms);
	registration_watched(&r->plan, 1, r->now_ms);
	assert_true(registration_works(&r->plan));
	registration_notified(&r->plan, true, "", r->now_ms);
	assert_int_equal(r->plan.registrations, 1);
	assert_sleeps_for_ever(r);
}

static void test_registry_never_calls(void **state)
{
	struct run r;

	(void)state;
	start_found(&r);
}

/* The kubelet reconnects by itself; if not, the socket is created again, with growing pauses. */
static void test_registry_waits_for_the_kubelet(void **state)
{
	static const uint64_t pauses[] = {10000, 10000, 20000, 40000, 80000, 160000, 160000};
	struct run r;
	size_t i;

	(void)state;
	start_found(&r);
	r.now_ms += 60000;
	registration_watched(&r.plan, 0, r.now_ms);
	assert_false(registration_works(&r.plan));
	for (i = 0; i < sizeof(pauses) / sizeof(pauses[0]); i++) {
		assert_int_equal(sleep_until_due(&r, REGISTRATION_SERVE), pauses[i]);
		registration_serving(&r.plan, true, r.now_ms);
	}
	registration_watched(&r.plan, 1, r.now_ms);
	assert_sleeps_for_ever(&r);
}

/* If the kubelet has never called the registry socket, it does not watch that folder: fall back to
 * Register and stop serving the registry. */
static void test_a_registry_that_is_not_watched(void **state)
{
	struct run r;

	(void)state;
	start(&r, true);
	registration_want(&r.plan, r.now_ms);
	assert_int_equal(step(&r), REGISTRATION_SERVE);
	registration_serving(&r.plan, true, r.now_ms);
	assert_sleeps_for_ever(&r); /* unknown while no kubelet runs */
	registration_kubelet(&r.plan, true, true, r.now_ms);
	assert_int_equal(sleep_until_due(&r, REGISTRATION_UNSEEN), 10000);
	/* the socket was removed for another reason */
	registration_serving(&r.plan, true, r.now_ms);
	assert_int_equal(sleep_until_due(&r, REGISTRATION_UNSEEN), 10000);
	registration_leave_registry(&r.plan, r.now_ms);
	assert_int_equal(step(&r), REGISTRATION_SERVE);
	registration_serving(&r.plan, true, r.now_ms);
	assert_int_equal(step(&r), REGISTRATION_CALL);
	registration_answered(&r.plan, registration_attempt(&r.plan), REGISTRATION_OK, "",
			      r.now_ms);
	registration_watched(&r.plan, 1, r.now_ms);
	assert_true(registration_works(&r.plan));
	assert_sleeps_for_ever(&r);
}

static void test_registry_sleeps_without_a_kubelet(void **state)
{
	struct run r;

	(void)state;
	start_found(&r);
	registration_kubelet(&r.plan, false, false, r.now_ms);
	registration_watched(&r.plan, 0, r.now_ms);
	assert_sleeps_for_ever(&r);
	registration_kubelet(&r.plan, true, true, r.now_ms);
	assert_int_equal(sleep_until_due(&r, REGISTRATION_SERVE), 10000);
}

static void test_registry_refusal(void **state)
{
	struct run r;

	(void)state;
	start_found(&r);
	registration_watched(&r.plan, 0, r.now_ms);
	registration_notified(&r.plan, false, "no such type", r.now_ms);
	assert_true(r.plan.refused);
	assert_string_equal(r.plan.error, "no such type");
	assert_int_equal(r.plan.failures, 1);
	registration_notified(&r.plan, true, "", r.now_ms);
	assert_false(r.plan.refused);
	assert_string_equal(r.plan.error, "");
}

/* Whether the kubelet or we notice first, the socket is created again at once. */
static void test_registry_socket_deleted(void **state)
{
	struct run r;

	(void)state;
	start_found(&r);
	r.now_ms += 60000;
	registration_watched(&r.plan, 0, r.now_ms);
	registration_serving(&r.plan, false, r.now_ms);
	assert_true(sleep_until_due(&r, REGISTRATION_SERVE) <= 20);
	registration_serving(&r.plan, true, r.now_ms);

	registration_watched(&r.plan, 1, r.now_ms);
	r.now_ms += 60000;
	registration_serving(&r.plan, false, r.now_ms);
	registration_watched(&r.plan, 0, r.now_ms);
	registration_notified(&r.plan, true, "", r.now_ms);
	registration_kubelet(&r.plan, true, true, r.now_ms);
	assert_true(sleep_until_due(&r, REGISTRATION_SERVE) <= 20);
}

TEST_GROUP(registration)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_a_list_it_does_nothing),
		cmocka_unit_test(test_serves_before_it_registers),
		cmocka_unit_test(test_without_a_kubelet_it_sleeps),
		cmocka_unit_test(test_a_new_socket_is_tried_quickly),
		cmocka_unit_test(test_our_socket_deleted_while_we_register),
		cmocka_unit_test(test_a_dead_socket_costs_little),
		cmocka_unit_test(test_frequent_hints_cause_few_attempts),
		cmocka_unit_test(test_refusals_are_reported_and_retried_more_slowly),
		cmocka_unit_test(test_a_timeout_is_a_failure_but_not_a_refusal),
		cmocka_unit_test(test_an_old_answer_does_not_count_for_a_new_kubelet),
		cmocka_unit_test(test_a_restart),
		cmocka_unit_test(test_a_new_kubelet_while_the_old_one_watches),
		cmocka_unit_test(test_our_socket_deleted),
		cmocka_unit_test(test_a_kubelet_that_drops_us_is_retried_with_backoff),
		cmocka_unit_test(test_registered_but_never_watched),
		cmocka_unit_test(test_a_watch_that_ends_before_the_answer),
		cmocka_unit_test(test_a_socket_that_cannot_be_created),
		cmocka_unit_test(test_registry_never_calls),
		cmocka_unit_test(test_registry_waits_for_the_kubelet),
		cmocka_unit_test(test_a_registry_that_is_not_watched),
		cmocka_unit_test(test_registry_sleeps_without_a_kubelet),
		cmocka_unit_test(test_registry_refusal),
		cmocka_unit_test(test_registry_socket_deleted),
	};

	return test_group_run(tests, NULL, NULL);
}
