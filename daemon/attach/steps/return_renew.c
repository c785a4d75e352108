// SPDX-License-Identifier: Apache-2.0
/* return_renew.c - finds residual state of a pod on a netdev, besides the restored settings; a
 * netdev that is not clean is replaced by a new one.
 *
 * Success: take a snapshot of the whole state -> it equals the original one, nothing is stacked on
 * the netdev. Otherwise: the driver is unbound and bound again, and all recorded settings are
 * restored again. Failures: a function that must not be reset, a driver that does not bind again
 * (retried). */
#include <sys/random.h>

#include "attach_rdma.h"
#include "attach_steps.h"
#include "function_files.h"
#include "kill_point.h"
#include "netdev_state_read.h"
#include "vf_admin.h"

void attach_take_snapshot(struct step_run *run, struct netdev_state *ret)
{
	const struct netdev *nd = &run->seen.netdev;
	struct nlsock *s = NULL;

	if (getrandom(ret->key, sizeof(ret->key), 0) == sizeof(ret->key) &&
	    netns_sockets_rtnl(&run->host, &s, NULL) == 0)
		netdev_state_read(ret, run->hw, s, nd->ifindex, nd->name);
}

struct findings {
	uint32_t different, unknown;
	struct netdev_inside inside;
	int inside_result; /* result of netdev_inside_read() */
	int rdma_open;	   /* result of attach_rdma_is_open() */
};

static int return_renew_inspect(struct step_run *run, struct findings *f)
{
	const struct netdev_state *was = &run->record->origin.state;
	struct netdev_state is = {.key = {was->key[0], was->key[1]}};
	struct nlsock *s = NULL;
	int r = return_find_in_host(run);

	if (r == 0)
		r = netns_sockets_rtnl(&run->host, &s, run->err);
	if (r < 0)
		return r;
	netdev_state_read(&is, run->hw, s, run->seen.netdev.ifindex, run->seen.netdev.name);
	*f = (struct findings){0};
	f->different = netdev_state_differ(was, &is, &f->unknown);
	f->inside_result = netdev_inside_read(run->hw, run->seen.netdev.ifindex, &f->inside);
	f->rdma_open = attach_rdma_is_open(run);
	if (f->inside.napi_differing)
		f->different |= 1u << STATE_NAPI;
	return 0;
}

static void return_renew_describe(const struct findings *f, char text[ATTACH_LEFT_SIZE])
{
	const struct netdev_upper *u = &f->inside.first;
	size_t n;

	netdev_sections_text(f->different, text, ATTACH_LEFT_SIZE);
	n = strlen(text);
	if (f->inside.n_uppers > 0)
		snprintf(text + n, ATTACH_LEFT_SIZE - n, "%s%.15s %.15s in namespace net:[%u]",
			 n ? ", " : "", u->kind[0] ? u->kind : "interface", u->name, u->netns);
	n = strlen(text);
	if (f->rdma_open > 0)
		snprintf(text + n, ATTACH_LEFT_SIZE - n,
			 "%sa process that has its RDMA device open", n ? ", " : "");
}

/* Is the state unknown? It is also unknown if udev still has to rename the netdev: udev finds it by
 * its ifindex, and a new netdev has another ifindex. A pool with "clean": "restore" accepts a
 * pending rename, the result of a search, and an XPS setting that may be the driver's. */
static bool return_renew_is_unknown(const struct step_run *run, const struct findings *f)
{
	const bool accepts = run->record->plan.clean == CLEAN_RESTORE;

	return f->unknown & ~(accepts ? 1u << STATE_XPS : 0) || f->inside_result < 0 ||
	       f->rdma_open < 0 ||
	       ((f->inside_result == NETDEV_SEARCHED || run->udev_renames) && !accepts);
}

enum renewal return_renewal(uint32_t different, uint32_t unknown, int uppers, enum clean_mode clean)
{
	if (different || uppers > 0)
		return RENEWAL_DIRTY;
	if (unknown || uppers < 0)
		return RENEWAL_UNKNOWN;
	return clean == CLEAN_ALWAYS_RESET ? RENEWAL_ALWAYS : RENEWAL_NONE;
}

/* Sets the error, with the residual state or with the parts that are unknown. */
static int left_dirty(struct step_run *run, const struct findings *f, const char *why)
{
	char unknown[ATTACH_LEFT_SIZE];

	netdev_sections_text(f->unknown, unknown, sizeof(unknown));
	if (!run->job->traces[0])
		return err_set(run->err, -EUCLEAN, "%s: cannot verify that it is clean (%.80s)%s",
			       run->record->function,
			       unknown[0] ? unknown : "interfaces stacked on it", why);
	return err_set(run->err, -EUCLEAN, "%s: left behind by its pod: %s%s",
		       run->record->function, run->job->traces, why);
}

/* --- a new netdev ----------------------------------------------------------------------------- */

/* A failed write does not stop the return: see return_step_record(). */
static void return_renew_remember(struct step_run *run, bool renewing)
{
	struct err ignored = {0};

	run->record->renewing = renewing;
	if (renewing)
		journal_write(run->job->journal, run->record, true, &ignored);
}

static int return_renew_take_away(struct step_run *run)
{
	int r = function_unbind(run->hw, run->record->function, run->err);

	run->at = NULL;
	if (r == 0 && function_has(run->hw, run->record->function, "net"))
		r = err_set(run->err, -EAGAIN, "%s: its old netdev does not disappear",
			    run->record->function);
	return r;
}

/* Restores the alternative names: udev adds the usual names, but not those of an administrator. A
 * name that another netdev has by now is skipped. */
static void add_altnames(struct step_run *run)
{
	char names[ALTNAMES_SIZE], *rest = NULL;
	struct nlsock *s = NULL;

	if (return_find_in_host(run) < 0 || netns_sockets_rtnl(&run->host, &s, NULL) < 0)
		return;
	memcpy(names, run->record->origin.altnames, sizeof(names));
	for (char *alt = strtok_r(names, " ", &rest); alt; alt = strtok_r(NULL, " ", &rest))
		netdev_add_altname(s, run->seen.netdev.ifindex, alt, NULL);
}

/* Brings the netdev up and down once: drivers change settings at the first use, which would later
 * look like changes by the next pod. A failure to bring it up is not an error. */
static int use_once(struct step_run *run)
{
	const struct netdev_change up = {.netns_fd = -1, .up = 1}, down = {.netns_fd = -1};
	struct nlsock *s = NULL;
	int r = return_find_in_host(run);

	if (r == -ENODEV || run->record->origin.up)
		return 0;
	if (r == 0)
		r = netns_sockets_rtnl(&run->host, &s, run->err);
	if (r < 0)
		return r;
	netdev_change(s, run->seen.netdev.ifindex, &up, NULL);
	return netdev_change(s, run->seen.netdev.ifindex, &down, run->err);
}

static int put_back(struct step_run *run)
{
	int r = return_move_to_host(run);

	if (r == 0)
		r = attach_rdma_renewed(run);
	if (r < 0)
		return r;
	add_altnames(run);
	r = use_once(run);
	return r < 0 ? r : return_restore(run);
}

/* No pod has used the new netdev yet, so its state becomes the original state for later
 * comparisons. */
static int snapshot_new_netdev(struct step_run *run)
{
	struct link_origin *o = &run->record->origin;
	int r = return_find_in_host(run);

	if (r == 0)
		attach_take_snapshot(run, &o->state);
	return r == -ENODEV ? 0 : r;
}

static int renew(struct step_run *run)
{
	int r;

	return_renew_remember(run, true);
	kill_point("back-renew-2", "before");
	r = return_renew_take_away(run);
	kill_point("back-renew-3", "before");
	if (r == 0)
		return_forget_reported_name(run);
	if (r == 0)
		r = function_bind(run->hw, run->record->function, run->err);
	kill_point("back-renew-4", "before");
	if (r == 0)
		r = vf_admin_wait_for_netdev(run);
	if (r == 0)
		r = put_back(run);
	if (r == 0)
		r = snapshot_new_netdev(run);
	if (r == 0)
		return_renew_remember(run, false);
	return r;
}

/* Why the function must not get a new netdev; NULL = it may. Unbinding a PF's driver removes its
 * VFs; if a function has two ports, it also removes the other port's netdev. */
static const char *why_not(const struct step_run *run)
{
	if (function_has(run->hw, run->record->function, "virtfn0"))
		return "; it gets no new netdev, because it has VFs";
	if (function_count(run->hw, run->record->function, "net") > 1)
		return "; it gets no new netdev, because it has others";
	return NULL;
}

int return_replace(struct step_run *run)
{
	const char *why = run->record->plan.clean == CLEAN_RESTORE
				  ? ", and its pool sets \"clean\": \"restore\""
				  : why_not(run);
	int r;

	if (!run_is_vf(run) || !function_is_on_bus(run->hw, run->record->function))
		return -EAGAIN;
	if (why)
		return err_set(
			run->err, -EAGAIN,
			"%s: its netdev is stuck in an unreachable namespace, pinned by a socket "
			"or mount%s",
			run->record->function, why);
	r = renew(run);
	if (r == 0)
		run->job->renewal = RENEWAL_BEYOND;
	return r;
}

static const char *why_not_before(const struct step_run *run)
{
	return run->record->plan.clean == CLEAN_RESTORE ? "; its pool sets \"clean\": \"restore\""
							: why_not(run);
}

int return_renew_before_attach(struct step_run *run)
{
	const int ifindex = run->seen.netdev.ifindex;
	struct netdev_inside inside = {0};
	const struct netdev_upper *u = &inside.first;
	int r = netdev_inside_read(run->hw, ifindex, &inside);

	/* A pool with "clean": "restore" accepts the result of a search. */
	if (!inside.n_uppers && (r >= 0 || run->record->plan.clean == CLEAN_RESTORE))
		return 0;
	if (inside.n_uppers && why_not_before(run))
		return err_set(run->err, -EBUSY,
			       "%s is in use: %.15s %.15s in namespace net:[%u] is stacked on it%s",
			       run->record->function, u->kind[0] ? u->kind : "interface", u->name,
			       u->netns, why_not_before(run));
	if (why_not(run))
		return 0;
	r = renew(run);
	if (r < 0)
		return r;
	run->job->renewal = inside.n_uppers ? RENEWAL_DIRTY : RENEWAL_UNKNOWN;
	snprintf(run->job->traces, ATTACH_LEFT_SIZE, "%.15s %.15s in namespace net:[%u]",
		 u->kind[0] ? u->kind : "interface", u->name, u->netns);
	return journal_write(run->job->journal, run->record, true, run->err);
}

/* Replaces a netdev that is not clean. Success if the function has no netdev. */
int return_step_renew(struct step_run *run)
{
	struct findings f;
	enum renewal why;
	int r;

	run->job->traces[0] = '\0';
	if (run->job->renewal == RENEWAL_BEYOND) /* it is new already */
		return 0;
	run->job->renewal = RENEWAL_NONE;
	if (!run_is_vf(run) || !function_is_on_bus(run->hw, run->record->function))
		return 0;
	r = return_renew_inspect(run, &f);
	if (r == -ENODEV && !function_has(run->hw, run->record->function, "net"))
		return 0;
	if (r < 0)
		return r;
	return_renew_describe(&f, run->job->traces);
	why = return_renewal(f.different, return_renew_is_unknown(run, &f),
			     f.inside.n_uppers > 0 || f.rdma_open > 0, run->record->plan.clean);
	if (why == RENEWAL_NONE)
		return 0;
	if (run->record->plan.clean == CLEAN_RESTORE)
		return left_dirty(run, &f, ", and its pool sets \"clean\": \"restore\"");
	if (why_not(run))
		return left_dirty(run, &f, why_not(run));
	r = renew(run);
	if (r == 0)
		run->job->renewal = why;
	return r;
}
