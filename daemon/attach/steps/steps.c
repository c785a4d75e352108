// SPDX-License-Identifier: Apache-2.0
/* steps.c - the tables of the steps, and the function that runs them. */
#include "steps.h"

#include "attach_steps.h"
#include "kill_point.h"

struct step {
	const char *name;
	int (*run)(struct step_run *); /* NULL: run by the engine */
	bool settles; /* bookkeeping; also run when the device must not be touched */
	bool records; /* also run for a device that stays in the host */
	bool netdev;  /* not run for a device that has none */
};

static const struct step attach_steps[N_ATTACH_STEPS] = {
	[STEP_RECORD] = {.name = "record", .run = attach_step_record, .records = true},
	[STEP_ADMIN] = {.name = "admin", .run = attach_step_admin},
	[STEP_MOVE] = {.name = "move", .run = attach_step_move, .netdev = true},
	[STEP_IPAM] = {.name = "ipam", .run = NULL},
	[STEP_CONFIGURE] = {.name = "configure", .run = attach_step_configure, .netdev = true},
	[STEP_RDMA] = {.name = "rdma", .run = attach_step_rdma, .netdev = true},
	[STEP_VERIFY] = {.name = "verify", .run = attach_step_verify},
	[STEP_DONE] = {.name = "done", .run = attach_step_done, .records = true},
};

static const struct step return_steps[N_RETURN_STEPS] = {
	[BACK_RECORD] = {.name = "back-record", .run = return_step_record, .settles = true},
	[BACK_RDMA] = {.name = "back-rdma", .run = return_step_rdma, .netdev = true},
	[BACK_MOVE] = {.name = "back-move", .run = return_step_move, .netdev = true},
	[BACK_ADMIN] = {.name = "back-admin", .run = return_step_admin},
	[BACK_RENEW] = {.name = "back-renew", .run = return_step_renew, .netdev = true},
	[BACK_IPAM] = {.name = "back-ipam", .run = NULL},
	[BACK_VERIFY] = {.name = "back-verify", .run = return_step_verify},
	[BACK_DONE] = {.name = "back-done", .run = return_step_done, .settles = true},
};

const char *attach_step_name(enum attach_step s)
{
	return attach_steps[s].name;
}

const char *return_step_name(enum return_step s)
{
	return return_steps[s].name;
}

bool return_step_settles(enum return_step s)
{
	return return_steps[s].settles;
}

static int run_step(struct step_run *run, const struct step *s)
{
	char point[32];
	int r;

	if (run->job->settle_only && !s->settles)
		return 0;
	if (run->record->plan.in_host && !run->job->is_return && !s->records)
		return 0;
	if (run->record->plan.no_netdev && s->netdev)
		return 0;
	snprintf(point, sizeof(point), "%s%s", run->job->is_return ? "" : "attach-", s->name);
	kill_point(point, "before");
	r = s->run(run);
	kill_point(point, "after");
	return r;
}

int attach_run(struct attach_job *job)
{
	const struct step *steps = job->is_return ? return_steps : attach_steps;
	const int n = job->is_return ? (int)N_RETURN_STEPS : (int)N_ATTACH_STEPS;
	struct step_run run;
	int r = 0;

	/* Nothing to return: the attach changed nothing, or has been undone. */
	if (job->is_return && job->next == BACK_RECORD && job->record.state == ATTACH_FREE)
		job->next = N_RETURN_STEPS;
	run_begin(&run, job);
	while (r == 0 && job->next < n && steps[job->next].run) {
		job->err = (struct err){0};
		__atomic_store_n(&job->at, job->next, __ATOMIC_RELAXED);
		r = run_step(&run, &steps[job->next]);
		if (r == 0)
			job->next++;
	}
	run_end(&run);
	if (r == 0)
		job->err = (struct err){0};
	return r;
}
