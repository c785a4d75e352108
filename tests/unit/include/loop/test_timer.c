// SPDX-License-Identifier: Apache-2.0
/* The timer that a loop's module keeps for its next action. */
#include "timer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "loop_helpers.h"
#include "test_group.h"

#define LONG_MS 3600000

struct owner {
	struct timer timer;
	unsigned fired, closed;
	bool close_when_due;
};

static uv_loop_t loop;
static struct owner owner;

static void on_closed(void *arg)
{
	struct owner *o = arg;

	o->closed++;
}

static void on_timer(void *arg)
{
	struct owner *o = arg;

	o->fired++;
	if (o->close_when_due)
		timer_close(&o->timer, on_closed);
}

static int set_up(void **state)
{
	(void)state;
	owner = (struct owner){.fired = 0};
	uv_loop_init(&loop);
	timer_init(&owner.timer, &loop, on_timer, &owner);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	if (owner.closed == 0)
		timer_close(&owner.timer, on_closed);
	assert_int_equal(loop_end(&loop), 0);
	assert_int_equal(owner.closed, 1);
	return 0;
}

static bool is_set(void)
{
	return uv_is_active((uv_handle_t *)&owner.timer.handle);
}

static void test_a_new_timer_is_not_set(void **state)
{
	(void)state;
	assert_false(is_set());
	assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
	assert_int_equal(owner.fired, 0);
}

static void test_fires_once(void **state)
{
	(void)state;
	timer_at(&owner.timer, uv_now(&loop) + 2);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(owner.fired, 1);
	timer_at(&owner.timer, 0); /* in the past */
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(owner.fired, 2);
}

static void test_the_last_setting_counts(void **state)
{
	(void)state;
	timer_in(&owner.timer, LONG_MS);
	timer_in(&owner.timer, 1);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(owner.fired, 1);
	timer_in(&owner.timer, 1);
	timer_at(&owner.timer, TIMER_NEVER);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(owner.fired, 1);
}

static void test_within_only_brings_forward(void **state)
{
	(void)state;
	timer_in(&owner.timer, 1000);
	timer_within(&owner.timer, LONG_MS);
	assert_int_equal(uv_timer_get_due_in(&owner.timer.handle), 1000);
	timer_within(&owner.timer, 10);
	assert_int_equal(uv_timer_get_due_in(&owner.timer.handle), 10);
	timer_at(&owner.timer, TIMER_NEVER);
	timer_within(&owner.timer, LONG_MS);
	assert_int_equal(uv_timer_get_due_in(&owner.timer.handle), LONG_MS);
}

static void test_closed_while_it_is_set(void **state)
{
	(void)state;
	timer_in(&owner.timer, 0);
	timer_close(&owner.timer, on_closed);
	assert_int_equal(owner.closed, 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(owner.fired, 0);
	assert_int_equal(owner.closed, 1);
}

static void test_closed_in_its_callback(void **state)
{
	(void)state;
	owner.close_when_due = true;
	timer_in(&owner.timer, 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(owner.fired, 1);
	assert_int_equal(owner.closed, 1);
}

static void test_closed_without_a_callback(void **state)
{
	struct timer timer;

	(void)state;
	timer_init(&timer, &loop, on_timer, &owner);
	timer_close(&timer, NULL);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(owner.fired, 0);
}

TEST_GROUP(timer)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_a_new_timer_is_not_set),    TEST(test_fires_once),
		TEST(test_the_last_setting_counts),   TEST(test_within_only_brings_forward),
		TEST(test_closed_while_it_is_set),    TEST(test_closed_in_its_callback),
		TEST(test_closed_without_a_callback),
	};

	return test_group_run(tests, NULL, NULL);
}
