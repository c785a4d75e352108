// SPDX-License-Identifier: Apache-2.0
/* A container runtime's events of either kind, after which the list is queried; and runtimes
 * without events. */
#include "cri.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "cri_fixture.h"
#include "loop_helpers.h"
#include "test_group.h"

static bool is_there(struct cri_fixture *f)
{
	const struct sandbox *s = cri_get(f, f->id);

	return s && s->detailed;
}

static unsigned n_lists, n_events; /* at least so many are awaited */

static bool has_enough_lists(struct cri_fixture *f)
{
	return f->fake.lists >= n_lists;
}

static bool has_enough_events(struct cri_fixture *f)
{
	return cri_status_of(f).events >= n_events;
}

/* The event arrives before the list shows the sandbox. */
static void test_an_event_comes_before_its_sandbox(void **state)
{
	struct cri_fixture f;
	unsigned lists;

	(void)state;
	cri_fixture_init(&f);
	fake_cri_set(&f.fake, three_sandboxes, 1);
	cri_fixture_start(&f);
	cri_fixture_calm(&f);
	n_lists = f.fake.lists + 2;
	fake_cri_event(&f.fake, CRI_EVENT_BEGINS, "bbb2");
	cri_until(&f, has_enough_lists);
	fake_cri_set(&f.fake, three_sandboxes, 2);
	f.id = "bbb2";
	cri_until(&f, is_there);
	lists = f.fake.lists;
	loop_wakeups(&f.loop, 300);
	assert_int_equal(f.fake.lists, lists); /* no further queries */
	assert_int_equal(cri_status_of(&f).events, 1);
	cri_fixture_stop(&f);
}

static bool is_not_ready(struct cri_fixture *f)
{
	const struct sandbox *s = cri_get(f, f->id);

	return s && !s->ready;
}

static void test_a_sandbox_ends_and_is_removed(void **state)
{
	struct fake_sandbox two[2] = {three_sandboxes[0], three_sandboxes[1]};
	struct cri_fixture f;

	(void)state;
	cri_fixture_init(&f);
	cri_fixture_start(&f);
	cri_fixture_calm(&f);
	fake_cri_event(&f.fake, CRI_EVENT_ENDS, "bbb2");
	loop_wakeups(&f.loop, 20);
	two[1].not_ready = true;
	fake_cri_set(&f.fake, two, 2);
	f.id = "bbb2";
	cri_until(&f, is_not_ready);
	assert_string_equal(cri_get(&f, "bbb2")->netns, "/run/netns/b"); /* its details are kept */
	fake_cri_event(&f.fake, CRI_EVENT_GONE, "bbb2");
	fake_cri_set(&f.fake, two, 1);
	cri_until(&f, cri_is_gone);
	cri_fixture_stop(&f);
}

static void test_events_of_containers_cause_no_queries(void **state)
{
	struct cri_fixture f;
	unsigned lists;

	(void)state;
	cri_fixture_init(&f);
	cri_fixture_start(&f);
	cri_fixture_calm(&f);
	lists = f.fake.lists;
	fake_cri_event(&f.fake, CRI_EVENT_ENDS, "a container");
	fake_cri_event(&f.fake, CRI_EVENT_GONE, "a container");
	fake_cri_event(&f.fake, CRI_EVENT_OTHER, "an image");
	fake_cri_event(&f.fake, CRI_EVENT_BEGINS, "aaa1"); /* already listed as ready */
	n_events = 4;
	cri_until(&f, has_enough_events);
	loop_wakeups(&f.loop, 100);
	assert_int_equal(f.fake.lists, lists);
	assert_int_equal(cri_status_of(&f).events, 4);
	/* an invalid event may stand for any change */
	fake_cri_event_bytes(&f.fake, "\xff\xff", 2);
	fake_cri_set(&f.fake, three_sandboxes, 2);
	f.id = "ccc3";
	cri_until(&f, cri_is_gone);
	cri_fixture_stop(&f);
}

static void test_a_storm_of_events(void **state)
{
	struct cri_fixture f;
	char id[16];

	(void)state;
	cri_fixture_init(&f);
	cri_fixture_start(&f);
	cri_fixture_calm(&f);
	f.fake.lists = 0;
	for (unsigned i = 0; i < 2000; i++) {
		snprintf(id, sizeof(id), "x%u", i);
		fake_cri_event(&f.fake, CRI_EVENT_BEGINS, id);
	}
	n_events = 2000;
	cri_until(&f, has_enough_events);
	cri_until(&f, cri_is_asked_five_times);
	cri_until(&f, cri_is_calm);
	assert_true(f.fake.lists < 200);
	cri_fixture_stop(&f);
}

static void test_events_of_cri_o(void **state)
{
	struct cri_fixture f;

	(void)state;
	cri_fixture_init(&f);
	f.fake.name = "cri-o";
	f.fake.version = "1.31.2";
	fake_cri_set(&f.fake, three_sandboxes, 1);
	cri_fixture_start(&f);
	cri_until(&f, cri_is_listened_to);
	assert_true(f.fake.stream_is_cri);
	cri_until(&f, cri_is_calm);
	assert_int_equal(cri_status_of(&f).hints, CRI_HINTS_CRI);
	fake_cri_set(&f.fake, three_sandboxes, 2);
	fake_cri_event(&f.fake, CRI_EVENT_BEGINS, "bbb2");
	f.id = "bbb2";
	cri_until(&f, is_there);
	cri_fixture_stop(&f);
}

static bool has_no_events(struct cri_fixture *f)
{
	return f->fake.streams > 0 && cri_is_known(f) && cri_status_of(f).hints == CRI_HINTS_NONE;
}

/* Without pod events CRI-O ends the stream at once; then the list is polled, and often while a
 * change is awaited. */
static void test_a_stream_that_ends_at_once(void **state)
{
	struct cri_fixture f;
	unsigned lists;

	(void)state;
	cri_fixture_init(&f);
	f.fake.name = "cri-o";
	f.fake.brief_events = true;
	fake_cri_set(&f.fake, three_sandboxes, 1);
	cri_fixture_start(&f);
	cri_until(&f, has_no_events);
	cri_until(&f, cri_is_calm);
	assert_int_equal(f.fake.streams, 1);
	assert_int_equal(f.failures, 0);
	lists = f.fake.lists;
	fake_cri_set(&f.fake, three_sandboxes, 2);
	cri_expect(f.cri, true);
	/* polls every second instead of every ten */
	assert_in_range(uv_backend_timeout(&f.loop), 0, 1000);
	f.id = "bbb2";
	cri_until(&f, is_there);
	cri_expect(f.cri, false);
	assert_true(f.fake.lists - lists <= 3);
	lists = f.fake.lists;
	loop_wakeups(&f.loop, 500);
	assert_int_equal(f.fake.lists, lists);
	cri_fixture_stop(&f);
}

static bool has_tried_two_streams(struct cri_fixture *f)
{
	return f->fake.streams == 2 && has_no_events(f);
}

static void test_containerd_without_events(void **state)
{
	struct cri_fixture f;

	(void)state;
	cri_fixture_init(&f);
	f.fake.no_events = true;
	cri_fixture_start(&f);
	cri_until(&f, has_no_events);
	cri_until(&f, cri_is_detailed);
	assert_int_equal(f.fake.streams, 1); /* only containerd's own events, not CRI's as well */
	cri_fixture_stop(&f);

	cri_fixture_init(&f);
	f.fake.no_events = true;
	f.fake.version = "2.1.9";
	cri_fixture_start(&f);
	cri_until(&f, has_tried_two_streams);
	cri_fixture_stop(&f);
}

TEST_GROUP(cri_events)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_event_comes_before_its_sandbox),
		cmocka_unit_test(test_a_sandbox_ends_and_is_removed),
		cmocka_unit_test(test_events_of_containers_cause_no_queries),
		cmocka_unit_test(test_a_storm_of_events),
		cmocka_unit_test(test_events_of_cri_o),
		cmocka_unit_test(test_a_stream_that_ends_at_once),
		cmocka_unit_test(test_containerd_without_events),
	};

	return test_group_run(tests, NULL, NULL);
}
