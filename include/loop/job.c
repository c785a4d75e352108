// SPDX-License-Identifier: Apache-2.0
#include "job.h"

#include <stdio.h>

#include "job_watch.h"
#include "log.h"
#include "worker.h"

/* The jobs of this thread's loop, oldest first. A thread has at most one loop, and only its
 * callbacks access the list. */
static _Thread_local struct job *oldest, *youngest;

static void list_add(struct job *j)
{
	j->prev = youngest;
	if (youngest)
		youngest->next = j;
	else
		oldest = j;
	youngest = j;
}

static void list_remove(struct job *j)
{
	*(j->prev ? &j->prev->next : &oldest) = j->next;
	*(j->next ? &j->next->prev : &youngest) = j->prev;
}

static void job_on_worker(uv_work_t *work)
{
	struct job *j = work->data;

	__atomic_store_n(&j->has_thread, true, __ATOMIC_RELAXED);
	worker_begin();
	j->run(j->arg);
}

static uint64_t age_ms(const struct job *j)
{
	return uv_now(j->work.loop) - j->began_ms;
}

static void job_describe(const struct job *j, struct job_status *ret)
{
	*ret = (struct job_status){
		.for_ms = age_ms(j),
		.has_thread = __atomic_load_n(&j->has_thread, __ATOMIC_RELAXED),
	};
	snprintf(ret->text, sizeof(ret->text), "%s", j->name);
	if (j->describe)
		j->describe(j->arg, ret->text, sizeof(ret->text));
}

static void job_on_worked(uv_work_t *work, int status)
{
	struct job *j = work->data;
	struct job_status s;

	(void)status;
	if (j->reported) {
		job_describe(j, &s);
		log_info("worker", 0, "%s has ended, after %llu s", s.text,
			 (unsigned long long)s.for_ms / 1000);
	}
	list_remove(j);
	j->running = false;
	j->done(j->arg);
}

void job_begin(struct job *j, uv_loop_t *loop, const char *name, void (*run)(void *arg),
	       void (*done)(void *arg), void *arg)
{
	*j = (struct job){.running = true,
			  .work.data = j,
			  .name = name,
			  .run = run,
			  .done = done,
			  .arg = arg,
			  .began_ms = uv_now(loop)};
	/* Fails only if the function is NULL. */
	uv_queue_work(loop, &j->work, job_on_worker, job_on_worked);
	list_add(j);
}

size_t job_list(struct job_status *ret, size_t max, uint64_t at_least_ms)
{
	size_t n = 0;

	for (const struct job *j = oldest; j && n < max && age_ms(j) >= at_least_ms; j = j->next)
		job_describe(j, &ret[n++]);
	return n;
}

uint64_t job_oldest_ms(void)
{
	return oldest ? age_ms(oldest) : 0;
}

/* --- watch ------------------------------------------------------------------------------------ */

static void job_report_slow(struct job *j)
{
	struct job_status s;

	job_describe(j, &s);
	j->reported = true;
	if (s.has_thread)
		log_warn("worker", 0,
			 "%s has been running for %llu s: waiting for its end, other work goes on",
			 s.text, (unsigned long long)s.for_ms / 1000);
	else
		log_warn("worker", 0, "%s has been waiting for a thread for %llu s", s.text,
			 (unsigned long long)s.for_ms / 1000);
	if (j->slow)
		j->slow(j->arg);
}

static void job_on_timer(void *arg)
{
	const struct job_watch *w = arg;
	struct job *next;

	for (struct job *j = oldest; j && age_ms(j) >= w->slow_ms; j = next) {
		next = j->next;
		if (!j->reported)
			job_report_slow(j);
	}
}

/* Runs before the loop blocks; sets the timer for the oldest job that was not reported yet, if any.
 */
static void on_prepare(uv_prepare_t *prepare)
{
	struct job_watch *w = prepare->data;
	const struct job *j = oldest;

	while (j && j->reported)
		j = j->next;
	timer_at(&w->timer, j ? j->began_ms + w->slow_ms : TIMER_NEVER);
}

void job_watch_open(struct job_watch *w, uv_loop_t *loop, uint64_t slow_ms)
{
	w->slow_ms = slow_ms;
	timer_init(&w->timer, loop, job_on_timer, w);
	uv_unref((uv_handle_t *)&w->timer.handle);
	uv_prepare_init(loop, &w->prepare);
	w->prepare.data = w;
	uv_prepare_start(&w->prepare, on_prepare);
	uv_unref((uv_handle_t *)&w->prepare);
}

void job_watch_close(struct job_watch *w)
{
	timer_close(&w->timer, NULL);
	uv_close((uv_handle_t *)&w->prepare, NULL);
}

/* --- shutdown --------------------------------------------------------------------------------- */

static void on_drain_timer(uv_timer_t *timer)
{
	uv_stop(timer->loop);
}

bool job_drain(uv_loop_t *loop, uint64_t most_ms)
{
	uv_timer_t timer;
	bool is_empty;

	uv_timer_init(loop, &timer);
	uv_update_time(loop);
	uv_timer_start(&timer, on_drain_timer, most_ms, 0);
	uv_unref((uv_handle_t *)&timer);
	is_empty = uv_run(loop, UV_RUN_DEFAULT) == 0;
	uv_close((uv_handle_t *)&timer, NULL);
	uv_run(loop, UV_RUN_NOWAIT);
	return is_empty;
}
