// SPDX-License-Identifier: Apache-2.0
/* steps.c - the tables of the steps, and the function that runs them. */
#include "steps.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "attach_steps.h"
#include "function_files.h"
#include "kill_point.h"
#include "vf_admin.h"

/* Checks that a returned device is in its original state. A difference is reported, and the
 * device is not offered. */

__attribute__((format(printf, 2, 3))) static int unclean(struct step_run *run, const char *fmt, ...)
{
	char what[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return err_set(run->err, -EUCLEAN, "%s is not in its original state: %s",
		       run->record->function, what);
}

static bool is_of_origin(const struct link_origin *o, const char *altname)
{
	const size_t n = strlen(altname);

	for (const char *at = o->altnames; (at = strstr(at, altname)); at += n)
		if ((at == o->altnames || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
			return true;
	return false;
}

static int verify_altnames(struct step_run *run)
{
	const struct link_origin *o = &run->record->origin;
	char has[ALTNAMES_SIZE], *rest = NULL;

	memcpy(has, run->seen.altnames, sizeof(has));
	for (char *alt = strtok_r(has, " ", &rest); alt; alt = strtok_r(NULL, " ", &rest))
		if (o->mtu && !is_of_origin(o, alt))
			return unclean(run, "%s has an additional name, %.80s",
				       run->seen.netdev.name, alt);
	return 0;
}

/* Checks the netdev for flags, an XDP program and names that a pod may have left. */
static int verify_traces(struct step_run *run)
{
	const struct netdev *nd = &run->seen.netdev;

	if (nd->flags & PODS_FLAGS)
		return unclean(run, "%s has flags %#x", nd->name, nd->flags & PODS_FLAGS);
	if (run->seen.has_xdp)
		return unclean(run, "%s has an XDP program", nd->name);
	return verify_altnames(run);
}

static int verify_link(struct step_run *run)
{
	const struct link_origin *o = &run->record->origin;
	const struct netdev *nd = &run->seen.netdev;

	/* A new netdev, which has a snapshot, keeps the name of its driver or, perhaps later, of
	 * udev. */
	if (!o->name[0] && !o->state.key[0] && !o->state.key[1])
		return unclean(run, "the original name is unknown, it is named %s", nd->name);
	if (o->name[0] && strcmp(nd->name, o->name) != 0)
		return unclean(run, "it is named %s, because another interface has the name %s",
			       nd->name, o->name);
	if (strcmp(run->seen.alias, o->alias) != 0)
		return unclean(run, "%s has the alias \"%.80s\"", nd->name, run->seen.alias);
	for (size_t i = 0; i < N_LINK_FIELDS; i++)
		if (o->link[i] && nd->link[i] != o->link[i])
			return unclean(run, "%s has %s %u, not %u", nd->name, link_fields[i].words,
				       nd->link[i], o->link[i]);
	if (!return_has_own_mac(run))
		return unclean(run, "%s has another MAC", nd->name);
	if (!(nd->flags & IFF_UP) == o->up)
		return unclean(run, "%s is %s", nd->name, o->up ? "down" : "up");
	return verify_traces(run);
}

/* A setting that the PF does not report any more counts as equal. */
static int verify_settings(struct step_run *run)
{
	const struct link_origin *o = &run->record->origin;
	struct vf_settings is;
	unsigned different;
	char names[128];
	int r = vf_admin_read(run, &is);

	if (r < 0)
		return r;
	different = vf_admin_changed(run->record, &is) & is.fields;
	if (!different)
		return 0;
	vf_fields_text(different, names, sizeof(names));
	return unclean(run, "VF %d of %s differs in %s", o->vf_index, o->pf, names);
}

/* sysfs shows the RDMA device only in the namespace where it is. */
static int verify_rdma(struct step_run *run)
{
	const char *was = run->record->origin.rdma;
	char now[RDMA_NAME_SIZE];

	if (!function_has(run->hw, run->record->function, "infiniband") ||
	    function_rdma(run->hw, run->record->function, now) < 0)
		return 0;
	if (!now[0])
		return unclean(run, "its RDMA device %s is in another namespace", was);
	if (was[0] && strcmp(now, was) != 0)
		return unclean(run, "its RDMA device is named %s, not %s", now, was);
	return 0;
}

/* Success if the function has no netdev in any namespace. */
static int verify_netdev(struct step_run *run)
{
	int r = return_find_in_host(run);

	if (r != -ENODEV)
		return r < 0 ? r : verify_link(run);
	if (function_has(run->hw, run->record->function, "net"))
		return err_set(run->err, -EAGAIN, "%s: its netdev is not in the host",
			       run->record->function);
	return 0;
}

/* Success if the function has left the bus. */
static int return_step_verify(struct step_run *run)
{
	int r;

	if (!run_is_vf(run) || !function_is_on_bus(run->hw, run->record->function))
		return 0;
	r = run->record->plan.no_netdev ? 0 : verify_netdev(run);
	if (r == 0 && !run->record->plan.no_netdev)
		r = verify_rdma(run);
	return r == 0 && run->record->origin.pf[0] ? verify_settings(run) : r;
}

struct step {
	const char *name;
	int (*run)(struct step_run *); /* NULL: run by the engine, if there is an IPAM plugin */
	bool settles; /* bookkeeping; also run when the device must not be changed */
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

	if (!s->run || (run->job->settle_only && !s->settles))
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

static bool is_for_engine(const struct attach_job *job, const struct step *s)
{
	return !s->run && job->record.plan.ipam[0];
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
	while (r == 0 && job->next < n && !is_for_engine(job, &steps[job->next])) {
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
