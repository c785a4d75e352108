#include "job.h"

#include "worker.h"

static void on_worker(uv_work_t *work)
{
	struct job *j = work->data;

	worker_begin();
	j->run(j->arg);
}

static void on_worked(uv_work_t *work, int status)
{
	struct job *j = work->data;

	(void)status;
	j->running = false;
	j->done(j->arg);
}

void job_begin(struct job *j, uv_loop_t *loop, void (*run)(void *arg), void (*done)(void *arg),
	       void *arg)
{
	*j = (struct job){.running = true, .work.data = j, .run = run, .done = done, .arg = arg};
	/* Fails only without a function to run. */
	uv_queue_work(loop, &j->work, on_worker, on_worked);
}
