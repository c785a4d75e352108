// SPDX-License-Identifier: Apache-2.0
/* Which events the ring keeps, and in which order. */
#include "event_ring.h"
#include "test_group.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void add(struct event_ring *ring, const char *reason, const char *message, uint64_t ms)
{
	struct event e = {.first_ms = ms, .last_ms = ms, .type = EVENT_NORMAL};

	snprintf(e.reason, sizeof(e.reason), "%s", reason);
	snprintf(e.message, sizeof(e.message), "%s", message);
	event_ring_add(ring, &e);
}

static void test_the_same_event_counts_up_and_becomes_the_newest(void **state)
{
	struct event_ring ring;
	const struct event *e;

	(void)state;
	assert_int_equal(event_ring_init(&ring), 0);
	add(&ring, "Attached", "a", 1);
	add(&ring, "Attached", "b", 2);
	add(&ring, "Attached", "a", 3);
	assert_int_equal(ring.n, 2);
	assert_int_equal(ring.generation, 3);
	assert_string_equal(event_ring_at(&ring, 0)->message, "b");
	e = event_ring_at(&ring, 1);
	assert_string_equal(e->message, "a");
	assert_int_equal(e->count, 2);
	assert_int_equal(e->first_ms, 1);
	assert_int_equal(e->last_ms, 3);
	event_ring_done(&ring);
}

static void assert_is_another(struct event_ring *ring, const struct event *e)
{
	size_t n = ring->n;

	event_ring_add(ring, e);
	assert_int_equal(ring->n, n + 1);
	event_ring_add(ring, e);
	assert_int_equal(ring->n, n + 1);
}

static void test_fields_that_distinguish_events(void **state)
{
	struct event e = {.reason = "Drift", .pod = "p", .namespace = "n", .device = "d"};
	struct event_ring ring;

	(void)state;
	assert_int_equal(event_ring_init(&ring), 0);
	assert_is_another(&ring, &e);
	e.type = EVENT_WARNING;
	assert_is_another(&ring, &e);
	strcpy(e.reason, "Orphan");
	assert_is_another(&ring, &e);
	strcpy(e.pod, "q");
	assert_is_another(&ring, &e);
	strcpy(e.namespace, "m");
	assert_is_another(&ring, &e);
	strcpy(e.device, "f");
	assert_is_another(&ring, &e);
	strcpy(e.message, "x");
	assert_is_another(&ring, &e);
	event_ring_done(&ring);
}

static void test_a_full_ring_drops_the_oldest(void **state)
{
	struct event_ring ring;
	char text[16];

	(void)state;
	assert_int_equal(event_ring_init(&ring), 0);
	for (unsigned i = 0; i < EVENT_RING_SIZE; i++) {
		snprintf(text, sizeof(text), "%u", i);
		add(&ring, "Attached", text, i + 1);
	}
	add(&ring, "Attached", "0", 1000); /* it becomes the newest */
	add(&ring, "Attached", "new", 1001);
	assert_int_equal(ring.n, EVENT_RING_SIZE);
	assert_string_equal(event_ring_at(&ring, 0)->message, "2");
	assert_string_equal(event_ring_at(&ring, EVENT_RING_SIZE - 2)->message, "0");
	assert_string_equal(event_ring_at(&ring, EVENT_RING_SIZE - 1)->message, "new");
	event_ring_done(&ring);
}

TEST_GROUP(event_ring)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_same_event_counts_up_and_becomes_the_newest),
		cmocka_unit_test(test_fields_that_distinguish_events),
		cmocka_unit_test(test_a_full_ring_drops_the_oldest),
	};

	return test_group_run(tests, NULL, NULL);
}
