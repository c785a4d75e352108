// SPDX-License-Identifier: Apache-2.0
/* The events of a daemon that is not ready, at given times. */
#include "daemon.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "event_ring.h"
#include "inventory.h"
#include "test_group.h"

static bool serves;
static struct err port_error;
static struct inventory inventory = {.generation = 1};

static struct daemon *new_daemon(void)
{
	struct daemon *d = calloc(1, sizeof(*d));

	assert_non_null(d);
	assert_int_equal(event_ring_init(&d->events), 0);
	serves = false;
	err_set(&port_error, -EADDRINUSE, "port 9907 is taken");
	d->routes = (struct routes){.inventory = &inventory,
				    .is_sampled = true,
				    .serves_tcp = &serves,
				    .port_error = &port_error};
	return d;
}

static void free_daemon(struct daemon *d)
{
	event_ring_done(&d->events);
	free(d);
}

static void assert_newest(const struct daemon *d, size_t n, const char *reason, const char *text)
{
	const struct event *e;

	assert_int_equal(d->events.n, n);
	e = event_ring_at(&d->events, n - 1);
	assert_string_equal(e->reason, reason);
	assert_string_equal(e->message, text);
}

static void test_a_lasting_reason_is_reported_once(void **state)
{
	struct daemon *d = new_daemon();

	(void)state;
	ready_wiring_check(d, 1000);
	ready_wiring_check(d, 15999);
	assert_int_equal(d->events.n, 0);
	ready_wiring_check(d, 16000);
	assert_newest(d, 1, "NotReady", "nothing is served over TCP: port 9907 is taken");
	ready_wiring_check(d, 90000);
	assert_int_equal(d->events.n, 1);
	serves = true;
	ready_wiring_check(d, 91000);
	assert_newest(d, 2, "Ready", "ready again");
	ready_wiring_check(d, 92000);
	assert_int_equal(d->events.n, 2);
	free_daemon(d);
}

static void test_a_short_reason_is_not_reported(void **state)
{
	struct daemon *d = new_daemon();

	(void)state;
	ready_wiring_check(d, 1000);
	serves = true;
	ready_wiring_check(d, 11000);
	serves = false;
	ready_wiring_check(d, 12000);
	ready_wiring_check(d, 26000);
	assert_int_equal(d->events.n, 0);
	free_daemon(d);
}

static void test_another_reason_is_reported_after_a_minute(void **state)
{
	struct daemon *d = new_daemon();

	(void)state;
	ready_wiring_check(d, 1000);
	ready_wiring_check(d, 20000);
	err_set(&port_error, -EACCES, "no key");
	ready_wiring_check(d, 79999);
	assert_int_equal(d->events.n, 1);
	ready_wiring_check(d, 80000);
	assert_newest(d, 2, "NotReady", "nothing is served over TCP: no key");
	free_daemon(d);
}

static void test_a_rejected_configuration_is_not_reported_as_not_ready(void **state)
{
	const struct config_state config = {.offers_nothing = true};
	struct daemon *d = new_daemon();

	(void)state;
	d->routes.config = &config;
	ready_wiring_check(d, 1000);
	ready_wiring_check(d, 60000);
	assert_int_equal(d->events.n, 0);
	free_daemon(d);
}

TEST_GROUP(ready_wiring)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_lasting_reason_is_reported_once),
		cmocka_unit_test(test_a_short_reason_is_not_reported),
		cmocka_unit_test(test_another_reason_is_reported_after_a_minute),
		cmocka_unit_test(test_a_rejected_configuration_is_not_reported_as_not_ready),
	};

	return test_group_run(tests, NULL, NULL);
}
