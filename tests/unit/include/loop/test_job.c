/* Work on libuv's threads. */
#include "job.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "loop_helpers.h"
#include "test_group.h"

struct owner {
	struct job job;
	uv_loop_t *loop;
	pthread_t worker;
	unsigned n_run, n_done, rounds;
	bool was_running;
};

static uv_loop_t loop;

static void run(void *arg)
{
	struct owner *o = arg;

	o->worker = pthread_self();
	o->n_run++;
}

static void on_done(void *arg)
{
	struct owner *o = arg;

	o->was_running = o->job.running;
	if (++o->n_done < o->rounds)
		job_begin(&o->job, o->loop, run, on_done, o);
}

static void free_done(void *arg)
{
	free(arg);
}

static int set_up(void **state)
{
	(void)state;
	return uv_loop_init(&loop);
}

static int tear_down(void **state)
{
	(void)state;
	assert_int_equal(loop_end(&loop), 0);
	return 0;
}

static void test_runs_elsewhere_and_ends_here(void **state)
{
	struct owner o = {.loop = &loop};

	(void)state;
	job_begin(&o.job, &loop, run, on_done, &o);
	assert_true(o.job.running);
	assert_int_equal(o.n_done, 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(o.n_run, 1);
	assert_int_equal(o.n_done, 1);
	assert_false(o.was_running);
	assert_false(o.job.running);
	assert_false(pthread_equal(o.worker, pthread_self()));
}

static void test_the_next_one_from_its_end(void **state)
{
	struct owner o = {.loop = &loop, .rounds = 3};

	(void)state;
	job_begin(&o.job, &loop, run, on_done, &o);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(o.n_run, 3);
	assert_int_equal(o.n_done, 3);
	assert_false(o.job.running);
}

static void test_its_end_may_free_it(void **state)
{
	struct owner *o = calloc(1, sizeof(*o));

	(void)state;
	assert_non_null(o);
	job_begin(&o->job, &loop, run, free_done, o);
	uv_run(&loop, UV_RUN_DEFAULT);
}

TEST_GROUP(job)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_runs_elsewhere_and_ends_here),
		TEST(test_the_next_one_from_its_end),
		TEST(test_its_end_may_free_it),
	};

	return test_group_run(tests, NULL, NULL);
}
