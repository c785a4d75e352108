/* The timer of what is due. */
#include "due.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "loop_helpers.h"
#include "test_group.h"

#define LONG_MS 3600000

struct owner {
	struct due due;
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

static void on_due(void *arg)
{
	struct owner *o = arg;

	o->fired++;
	if (o->close_when_due)
		due_close(&o->due, on_closed);
}

static int set_up(void **state)
{
	(void)state;
	owner = (struct owner){.fired = 0};
	uv_loop_init(&loop);
	due_init(&owner.due, &loop, on_due, &owner);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	if (owner.closed == 0)
		due_close(&owner.due, on_closed);
	assert_int_equal(loop_end(&loop), 0);
	assert_int_equal(owner.closed, 1);
	return 0;
}

static bool is_set(void)
{
	return uv_is_active((uv_handle_t *)&owner.due.timer);
}

static void test_nothing_is_due_at_first(void **state)
{
	(void)state;
	assert_false(is_set());
	assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
	assert_int_equal(owner.fired, 0);
}

static void test_is_due_once(void **state)
{
	(void)state;
	due_at(&owner.due, uv_now(&loop) + 2);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(owner.fired, 1);
	due_at(&owner.due, 0); /* has passed long since */
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(owner.fired, 2);
}

static void test_the_last_word_counts(void **state)
{
	(void)state;
	due_in(&owner.due, LONG_MS);
	due_in(&owner.due, 1);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(owner.fired, 1);
	due_in(&owner.due, 1);
	due_at(&owner.due, DUE_NEVER);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(owner.fired, 1);
}

static void test_within_only_brings_forward(void **state)
{
	(void)state;
	due_in(&owner.due, 1000);
	due_within(&owner.due, LONG_MS);
	assert_int_equal(uv_timer_get_due_in(&owner.due.timer), 1000);
	due_within(&owner.due, 10);
	assert_int_equal(uv_timer_get_due_in(&owner.due.timer), 10);
	due_at(&owner.due, DUE_NEVER);
	due_within(&owner.due, LONG_MS);
	assert_int_equal(uv_timer_get_due_in(&owner.due.timer), LONG_MS);
}

static void test_closed_while_it_is_set(void **state)
{
	(void)state;
	due_in(&owner.due, 0);
	due_close(&owner.due, on_closed);
	assert_int_equal(owner.closed, 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(owner.fired, 0);
	assert_int_equal(owner.closed, 1);
}

static void test_closed_from_within(void **state)
{
	(void)state;
	owner.close_when_due = true;
	due_in(&owner.due, 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(owner.fired, 1);
	assert_int_equal(owner.closed, 1);
}

static void test_nobody_has_to_be_told_of_the_end(void **state)
{
	struct due due;

	(void)state;
	due_init(&due, &loop, on_due, &owner);
	due_close(&due, NULL);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(owner.fired, 0);
}

TEST_GROUP(due)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_nothing_is_due_at_first),
		TEST(test_is_due_once),
		TEST(test_the_last_word_counts),
		TEST(test_within_only_brings_forward),
		TEST(test_closed_while_it_is_set),
		TEST(test_closed_from_within),
		TEST(test_nobody_has_to_be_told_of_the_end),
	};

	return test_group_run(tests, NULL, NULL);
}
