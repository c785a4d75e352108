// SPDX-License-Identifier: Apache-2.0
/* status.c - keeps the status files of containers consistent with the allocations; a container
 * reads the status of its own devices there.
 *
 * Success: Allocate -> a new folder, which the answer names -> each sample starts a round: texts
 * are made in the loop, a batch at a time, and written by a worker -> the device returns -> the
 * folder is removed. Failures, each logged once: a full or read-only file system. The container
 * then gets its device without a folder, or reads the last written status. */
#include <stdlib.h>

#include "cleanup.h"
#include "log.h"
#include "search.h"
#include "state.h"
#include "status_files.h"

/* Rounds follow samples, but their readers are applications and people, so they need not be more
 * frequent. The 100 ms allow for samples that come a few milliseconds early or late. */
#define ROUND_MS (RESOURCES_STATUS_MS - 100)

/* --- failures --------------------------------------------------------------------------------- */

static void log_status_failure(struct pod_status *p, const struct err *e)
{
	if (!p->failing)
		log_warn("resources", 0, "%s: the status files of pods are not updated", e->msg);
	p->failing = true;
}

static void status_log_success(struct pod_status *p)
{
	if (p->failing)
		log_info("resources", 0, "the status files of pods are updated again");
	p->failing = false;
}

/* Logs a failed purge once. Called after every job. */
static void log_purge(struct pod_status *p)
{
	if (p->purge_error.code < 0 && !p->purge_failing)
		log_warn("resources", 0, "%s, not removing it", p->purge_error.msg);
	if (p->purges)
		p->purge_failing = p->purge_error.code < 0;
}

static int open_all(const struct pod_status *p, bool make, struct err *e)
{
	if (!p->run_dir)
		return err_set(e, -ENOENT, "there is no run folder");
	return status_files_open(p->run_dir, make, e);
}

/* --- the worker's part ------------------------------------------------------------------------ */

static void status_on_worker(void *arg)
{
	struct pod_status *p = &((struct resources *)arg)->status;

	p->purge_error = (struct err){0};
	for (size_t i = 0; i < p->n_batch; i++) {
		struct err e = {0};
		int r = status_files_write(p->batch[i].folder, p->batch[i].text, p->batch[i].len,
					   &e);

		p->n_written += r == 0;
		if (r < 0 && r != -ENOENT)
			p->error = e;
	}
	if (p->purges)
		status_files_purge(p->all, &p->purge_error);
}

static void drop_batch(struct pod_status *p)
{
	for (size_t i = 0; i < p->n_batch; i++) {
		close(p->batch[i].folder);
		free(p->batch[i].text);
	}
	p->n_batch = 0;
	if (p->all >= 0)
		close(p->all);
	p->all = -1;
}

static void continue_round(struct resources *r);

static void on_written(void *arg)
{
	struct resources *r = arg;
	struct pod_status *p = &r->status;

	if (p->error.code < 0)
		log_status_failure(p, &p->error);
	else if (p->n_written > 0 && p->next >= p->plan.n)
		status_log_success(p);
	log_purge(p);
	drop_batch(p);
	if (p->closed)
		p->closed(r);
	else
		continue_round(r);
}

/* --- rounds ----------------------------------------------------------------------------------- */

/* True if the file of the folder must be written. Rates are between two samples: counts from before
 * the allocation belong to the previous owner. */
static bool status_needs_write(const struct pod_status *p, const struct pod_status_folder *f)
{
	return f->has_status && (f->since_ms == 0 || p->rates_from_ms > f->since_ms);
}

static bool is_followed(const struct resources *r)
{
	return r->status.followed &&
	       r->status.generation == reservations_generation(holders_reservations(r->holders));
}

/* Notes that a folder does not exist. This may be normal before the next decision; afterwards,
 * another program has removed it. A running container gets no updates until it is restarted; the
 * folder is created again so that it can be restarted. */
static void note_missing(struct resources *r, const char *name)
{
	struct pod_status *p = &r->status;

	if (!is_followed(r))
		return;
	if (!p->missing_logged)
		log_warn("resources", 0,
			 "%s/pod-status%s%s was removed or replaced by another process: it is "
			 "created again, and running containers get it after a restart",
			 p->run_dir, name[0] ? "/" : "", name);
	p->missing = p->missing_logged = true;
	p->followed = false;
	resources_decide_soon(r);
}

/* Adds the folder's file to the batch, unless the folder is missing or there is no text. */
static void status_add_text(struct resources *r, const struct pod_status_folder *f)
{
	struct pod_status *p = &r->status;
	AUTO_FD folder = status_files_folder(p->all, f->name);
	size_t len = 0;
	char *text = folder < 0 ? NULL : r->hooks.status(f->id, &len, r->hooks.arg);

	if (folder == -ENOENT)
		note_missing(r, f->name);
	if (text)
		p->batch[p->n_batch++] = (struct status_text){take_fd(&folder), text, len};
}

/* Starts the next batch of files, unless nothing is left to do. */
static void continue_round(struct resources *r)
{
	struct pod_status *p = &r->status;
	struct err e = {0};

	if (p->next >= p->plan.n && !p->to_purge)
		return;
	p->all = open_all(p, false, &e);
	if (p->all < 0) {
		p->next = p->plan.n;
		p->to_purge = false;
		if (p->all == -ENOENT)
			note_missing(r, "");
		else
			log_status_failure(p, &e);
		return;
	}
	for (; p->next < p->plan.n && p->n_batch < STATUS_BATCH; p->next++)
		if (status_needs_write(p, &p->plan.folders[p->next]))
			status_add_text(r, &p->plan.folders[p->next]);
	p->purges = p->to_purge;
	p->to_purge = false;
	job_begin(&p->job, r->loop, "writing status files of pods", status_on_worker, on_written,
		  r);
}

/* Ends the round, because the folders no longer match its plan; the next sample starts a new one. A
 * worker that is running writes into the previous folders. */
static void end_round(struct resources *r)
{
	r->status.next = r->status.plan.n;
	if (!r->status.job.running && !r->closing)
		continue_round(r);
}

/* Replaces the plan of the last round. Must not be called during a round. */
static int make_plan(struct resources *r)
{
	pod_status_plan_done(&r->status.plan);
	r->status.next = 0;
	return pod_status_plan_make(&r->status.plan, &r->pools, holders_held(r->holders));
}

void resources_sampled(struct resources *r, uint64_t sample_ms)
{
	struct pod_status *p = &r->status;
	uint64_t now = uv_now(r->loop);

	p->rates_from_ms = p->sample_ms;
	p->sample_ms = sample_ms;
	if (r->closing || r->opts.dry_run || !r->decided || !r->hooks.status || p->job.running ||
	    now < p->round_ms + ROUND_MS)
		return;
	p->round_ms = now;
	p->missing_logged &= p->missing;
	p->missing = false;
	p->n_written = 0;
	p->error = (struct err){0};
	if (make_plan(r) == 0 && p->plan.n_with_status > 0)
		continue_round(r);
	else
		p->next = p->plan.n;
}

bool resources_have_pod_status(const struct resources *r)
{
	return any_of(r->config.n_pools, i, r->config.pools[i].pod_status);
}

/* --- after each decision ---------------------------------------------------------------------- */

static bool is_stale_folder(const char *name, void *plan)
{
	return pod_status_is_stale(plan, name);
}

/* Creates or empties one folder. The kubelet restarts containers with their original mounts, so the
 * folders must exist, also after a reboot. If the configuration no longer has podStatus, the folder
 * is emptied. */
static int follow_one(int all, const struct pod_status_folder *f, bool is_writing, bool *renewed,
		      struct err *e)
{
	if (f->has_status)
		return status_files_ensure(all, f->name, e);
	/* A worker may be about to write the file. */
	if (!is_writing && !status_files_has_file(all, f->name))
		return 0;
	*renewed = true;
	return status_files_renew(all, f->name, e);
}

static int follow_plan(struct resources *r, struct pod_status_plan *plan, struct err *e)
{
	AUTO_FD all = open_all(&r->status, plan->n_with_status > 0, e);
	bool renewed = false;
	int error = 0, n;

	if (all == -ENOENT && plan->n_with_status == 0)
		return 0;
	if (all < 0)
		return all;
	for (size_t i = 0; i < plan->n && error == 0; i++)
		error = follow_one(all, &plan->folders[i], r->status.job.running, &renewed, e);
	n = status_files_sweep(all, is_stale_folder, plan, error < 0 ? NULL : e);
	/* The first sweep also purges renamed folders that a crash has left. */
	r->status.to_purge |= renewed || n > 0 || !r->status.followed;
	return error < 0 ? error : n;
}

void status_follow(struct resources *r)
{
	struct pod_status *p = &r->status;
	struct pod_status_plan plan = {0};
	struct err e = {0};

	if (r->opts.dry_run || is_followed(r))
		return;
	if (pod_status_plan_make(&plan, &r->pools, holders_held(r->holders)) < 0)
		return;
	if (follow_plan(r, &plan, &e) >= 0) {
		p->followed = true;
		p->generation = reservations_generation(holders_reservations(r->holders));
		p->failing &= plan.n_with_status > 0;
	} else {
		log_status_failure(p, &e);
	}
	pod_status_plan_done(&plan);
	end_round(r);
}

/* --- Allocate --------------------------------------------------------------------------------- */

/* Returns how many of the IDs have a new folder; `made` lists them. */
static size_t renew_all(struct resources *r, struct id_list ids, const char **made)
{
	struct err e = {0};
	AUTO_FD all = open_all(&r->status, true, &e);
	char name[PLUGIN_ID_SIZE];
	size_t n = 0;

	for (size_t i = 0; all >= 0 && i < ids.n; i++)
		if (pod_status_name(ids.ids[i], name) && status_files_renew(all, name, &e) == 0)
			made[n++] = ids.ids[i];
	if (e.code < 0)
		log_status_failure(&r->status, &e);
	return n;
}

void status_grant(struct resources *r, const struct pool *pool, struct id_list ids,
		  struct container_grant *grant)
{
	const char **made = NULL;
	size_t n;

	if (!pool->pod_status || r->opts.dry_run)
		return;
	made = calloc(ids.n + 1, sizeof(*made));
	n = made ? renew_all(r, ids, made) : 0;
	if (!made || (n > 0 && pod_status_grant(grant, pool, r->status.run_dir,
						(struct id_list){made, n}) < 0))
		log_warn("resources", 0, "out of memory: a container gets no status files");
	free(made);
	r->status.to_purge = true;
	end_round(r);
}

/* --- lifetime --------------------------------------------------------------------------------- */

void status_open(struct resources *r)
{
	r->status = (struct pod_status){.all = -1};
	if (r->opts.run_dir)
		r->status.run_dir = realpath(r->opts.run_dir, NULL);
}

bool status_close(struct resources *r, void (*closed)(void *arg))
{
	r->status.closed = closed;
	return r->status.job.running;
}

void status_done(struct resources *r)
{
	pod_status_plan_done(&r->status.plan);
	free(r->status.run_dir);
}
