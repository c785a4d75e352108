// SPDX-License-Identifier: Apache-2.0
/* Work on libuv's worker threads. */
#include "job.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "job_watch.h"
#include "loop_helpers.h"
#include "test_group.h"
#include "tmptree.h"

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
		job_begin(&o->job, o->loop, "work", run, on_done, o);
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

static void test_runs_on_a_worker_and_ends_on_the_loop(void **state)
{
	struct owner o = {.loop = &loop};

	(void)state;
	job_begin(&o.job, &loop, "work", run, on_done, &o);
	assert_true(o.job.running);
	assert_int_equal(o.n_done, 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(o.n_run, 1);
	assert_int_equal(o.n_done, 1);
	assert_false(o.was_running);
	assert_false(o.job.running);
	assert_false(pthread_equal(o.worker, pthread_self()));
}

static void test_the_next_job_begins_in_the_callback(void **state)
{
	struct owner o = {.loop = &loop, .rounds = 3};

	(void)state;
	job_begin(&o.job, &loop, "work", run, on_done, &o);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(o.n_run, 3);
	assert_int_equal(o.n_done, 3);
	assert_false(o.job.running);
}

static void test_the_callback_may_free_the_job(void **state)
{
	struct owner *o = calloc(1, sizeof(*o));

	(void)state;
	assert_non_null(o);
	job_begin(&o->job, &loop, "work", run, free_done, o);
	uv_run(&loop, UV_RUN_DEFAULT);
}

/* --- work that hangs -------------------------------------------------------------------------- */

/* Work that hangs in opening a named pipe without a writer. */
struct stuck {
	struct job job;
	char *dir, path[256];
	unsigned n_slow, n_done;
	int fd;
};

static void stuck_run(void *arg)
{
	struct stuck *s = arg;

	s->fd = open(s->path, O_RDONLY | O_CLOEXEC);
}

static void stuck_done(void *arg)
{
	struct stuck *s = arg;

	s->n_done++;
	close(s->fd);
}

static void stuck_slow(void *arg)
{
	((struct stuck *)arg)->n_slow++;
}

static void stuck_describe(const void *arg, char *ret, size_t size)
{
	const struct stuck *s = arg;

	snprintf(ret, size, "the work on %s, at step %s,", strrchr(s->path, '/') + 1, "open");
}

static void stuck_begin(struct stuck *s)
{
	*s = (struct stuck){.dir = tmptree_new(), .fd = -1};
	snprintf(s->path, sizeof(s->path), "%s/pipe", s->dir);
	assert_int_equal(mkfifo(s->path, 0600), 0);
	job_begin(&s->job, &loop, "the work", stuck_run, stuck_done, s);
	s->job.describe = stuck_describe;
	s->job.slow = stuck_slow;
}

static void stuck_let_go(struct stuck *s)
{
	int fd = open(s->path, O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	close(fd);
	tmptree_free(s->dir);
}

static bool is_slow(void *arg)
{
	return ((struct stuck *)arg)->n_slow > 0;
}

static bool is_done(void *arg)
{
	return ((struct owner *)arg)->n_done > 0;
}

/* On a busy machine a job may be reported before it has a thread. */
static bool has_thread(void *arg)
{
	struct job_status job;

	(void)arg;
	return job_list(&job, 1, 0) == 1 && job.has_thread;
}

static void test_a_hanging_job_is_reported_once(void **state)
{
	struct owner other = {.loop = &loop};
	struct job_status jobs[4];
	struct job_watch watch;
	struct stuck s;

	(void)state;
	assert_int_equal(job_oldest_ms(), 0);
	job_watch_open(&watch, &loop, 5);
	stuck_begin(&s);
	assert_true(loop_until(&loop, is_slow, &s, PATIENCE_MS));
	assert_true(loop_until(&loop, has_thread, NULL, PATIENCE_MS));
	assert_true(job_oldest_ms() >= 5);
	job_begin(&other.job, &loop, "other work", run, on_done, &other);
	assert_int_equal(job_list(jobs, 4, 0), 2);
	assert_int_equal(job_list(jobs, 1, 0), 1);
	assert_in_range(job_list(jobs, 4, 5), 1, 2);
	assert_string_equal(jobs[0].text, "the work on pipe, at step open,");
	assert_true(jobs[0].has_thread);
	assert_true(jobs[0].for_ms >= 5);
	assert_true(loop_until(&loop, is_done, &other, PATIENCE_MS));
	assert_true(loop_sleeps(&loop, 50, 1)); /* no timer is left */
	assert_int_equal(s.n_slow, 1);
	stuck_let_go(&s);
	job_watch_close(&watch);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(s.n_done, 1);
	assert_int_equal(job_list(jobs, 4, 0), 0);
	assert_int_equal(job_oldest_ms(), 0);
}

/* The watch alone neither keeps the loop alive nor wakes it. */
static void test_the_watch_costs_nothing(void **state)
{
	struct owner o = {.loop = &loop};
	struct job_watch watch;

	(void)state;
	job_watch_open(&watch, &loop, 5);
	job_begin(&o.job, &loop, "work", run, on_done, &o);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(o.n_done, 1);
	assert_true(loop_sleeps(&loop, 50, 1));
	job_watch_close(&watch);
	uv_run(&loop, UV_RUN_DEFAULT);
}

static void test_draining_has_a_deadline(void **state)
{
	struct owner o = {.loop = &loop};
	struct stuck s;

	(void)state;
	job_begin(&o.job, &loop, "work", run, on_done, &o);
	assert_true(job_drain(&loop, PATIENCE_MS));
	assert_int_equal(o.n_done, 1);
	stuck_begin(&s);
	assert_false(job_drain(&loop, 5));
	assert_int_equal(s.n_done, 0);
	stuck_let_go(&s);
	assert_true(job_drain(&loop, PATIENCE_MS));
	assert_int_equal(s.n_done, 1);
}

TEST_GROUP(job)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_runs_on_a_worker_and_ends_on_the_loop),
		TEST(test_the_next_job_begins_in_the_callback),
		TEST(test_the_callback_may_free_the_job),
		TEST(test_a_hanging_job_is_reported_once),
		TEST(test_the_watch_costs_nothing),
		TEST(test_draining_has_a_deadline),
	};

	return test_group_run(tests, NULL, NULL);
}
