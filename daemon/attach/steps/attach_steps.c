// SPDX-License-Identifier: Apache-2.0
/* attach_steps.c - the steps that attach a device of the host to a pod. */
#include "attach_steps.h"

#include <net/if_arp.h>

#include "attach_rdma.h"
#include "function_files.h"
#include "identity.h"
#include "kill_point.h"
#include "netdev_state_read.h"
#include "stacked.h"
#include "vf_admin.h"

/* --- record ----------------------------------------------------------------------------------- */

/* Opens the pod's namespace, and identifies it if the request has only its path. */
static int identify_netns(struct step_run *run)
{
	struct netns_id *id = &run->record->owner.netns, seen;
	char path[sizeof(id->path)];
	int r;

	if (id->ino)
		return run_open_pod(run);
	memcpy(path, id->path, sizeof(path));
	run->pod.netns_fd = netns_open_path(run->hw, path, run->err);
	if (run->pod.netns_fd < 0)
		return run->pod.netns_fd;
	r = netns_identify(run->pod.netns_fd, path, &seen);
	if (r < 0)
		return err_set(run->err, r, "%s: %s", path, strerror(-r));
	*id = seen;
	return 0;
}

/* Rejects the host's namespace: a device attached there would look like a free one, and could not
 * be returned. */
static int reject_host_netns(struct step_run *run)
{
	const struct netns_id *id = &run->record->owner.netns;
	struct netns_id own;
	int r = run_open_host(run);

	if (r == 0)
		r = netns_identify(run->host.netns_fd, id->path, &own);
	if (r == 0 && own.dev == id->dev && own.ino == id->ino)
		return err_set(run->err, -EINVAL, "%s: that is the host's own network namespace",
			       id->path);
	return r;
}

static int find_in_host(struct step_run *run)
{
	const char *function = run->record->function;
	struct nlsock *s = NULL;
	int r = run_open_host(run);

	if (r == 0)
		r = netns_sockets_rtnl(&run->host, &s, run->err);
	if (r == 0)
		r = netdev_by_function(s, function, function_ifindex(run->hw, function), &run->seen,
				       run->err);
	if (r == -ENODEV)
		return err_set(run->err, -EBUSY, "%s has no netdev in the host", function);
	if (r == 0)
		run->at = &run->host;
	return r;
}

static int check_unused(struct step_run *run)
{
	const struct netdev *nd = &run->seen.netdev;
	char origin[IFNAMSIZ], upper[IFNAMSIZ];

	if (attach_alias_origin(run->seen.alias, origin))
		return err_set(run->err, -EBUSY,
			       "%s is not clean: %s still has the ifalias of an attachment, \"%s\"",
			       run->record->function, nd->name, run->seen.alias);
	if (run->seen.more_altnames)
		return err_set(run->err, -E2BIG,
			       "%s: %s has more alternative names than can be restored",
			       run->record->function, nd->name);
	/* The other netdev would stay in the host, and look like a returned one. */
	if (!run->record->plan.in_host && function_own_netdevs(run->hw, run->record->function) > 1)
		return err_set(
			run->err, -EOPNOTSUPP,
			"%s has several netdevs in the host, one per port: cannot choose one",
			run->record->function);
	if (nd->master)
		return err_set(run->err, -EBUSY, "%s is in use: %s belongs to a bond or bridge",
			       run->record->function, nd->name);
	if (netdev_upper_here(run->hw, nd->name, upper))
		return err_set(run->err, -EBUSY, "%s is in use: %s is stacked on %s",
			       run->record->function, upper, nd->name);
	return 0;
}

/* Retries -ENODEV: while sriov_numvfs is being written, VFs and their netdevs exist before their PF
 * reports them. */
static int attach_read_settings(struct step_run *run, struct vf_settings *ret)
{
	struct retries retries = {0};
	int r;

	while ((r = vf_admin_read(run, ret)) == -ENODEV && run_again_later(&retries))
		;
	return r;
}

static int fill_pf(struct step_run *run, struct link_origin *o)
{
	const char *function = run->record->function;
	int r = function_pf(run->hw, function, o->pf, &o->vf_index);

	if (r == 0)
		r = function_rdma(run->hw, function, o->rdma);
	if (r < 0)
		return err_set(run->err, r, "%s in sysfs: %s", function, strerror(-r));
	return o->pf[0] ? attach_read_settings(run, &o->vf) : 0;
}

static int fill_origin(struct step_run *run)
{
	struct link_origin *o = &run->record->origin;
	const struct netdev *nd = &run->seen.netdev;

	memset(o, 0, sizeof(*o));
	memcpy(o->name, nd->name, sizeof(o->name));
	memcpy(o->alias, run->seen.alias, sizeof(o->alias));
	memcpy(o->altnames, run->seen.altnames, sizeof(o->altnames));
	memcpy(o->addr, nd->addr, sizeof(o->addr));
	o->addr_len = nd->addr_len;
	memcpy(o->link, nd->link, sizeof(o->link));
	o->up = nd->flags & IFF_UP;
	attach_take_snapshot(run, &o->state);
	return fill_pf(run, o);
}

/* Records a function without a netdev. Its driver may have been changed since the request was
 * decided. */
static int fill_without_netdev(struct step_run *run)
{
	struct link_origin *o = &run->record->origin;
	const char *function = run->record->function;

	if (function_has(run->hw, function, "net"))
		return err_set(run->err, -EBUSY, "%s now has a netdev", function);
	if (!function_has(run->hw, function, "driver"))
		return err_set(run->err, -EBUSY, "%s has no driver", function);
	memset(o, 0, sizeof(*o));
	return fill_pf(run, o);
}

static int check_and_record_origin(struct step_run *run)
{
	const bool moves = !run->record->plan.in_host;
	int r = moves ? identify_netns(run) : 0;

	if (r == 0 && moves)
		r = reject_host_netns(run);
	if (r == 0 && run->record->plan.no_netdev)
		return fill_without_netdev(run);
	if (r == 0)
		r = find_in_host(run);
	if (r < 0 || !run_is_vf(run))
		return r < 0 ? r : stacked_fill(run);
	r = check_unused(run);
	if (r == 0)
		r = fill_origin(run);
	return r < 0 ? r : attach_rdma_note(run);
}

/* A record that is not free keeps its origin: the device's current state may be our own work. */
int attach_step_record(struct step_run *run)
{
	struct attach_record *rec = run->record;
	int r;

	if (rec->state == ATTACH_ATTACHING || rec->state == ATTACH_IN_POD)
		return rec->plan.in_host ? 0 : run_open_pod(run);
	if (rec->state != ATTACH_FREE)
		return err_set(run->err, -EBUSY, "%s has not been returned yet (state %s)",
			       rec->function, attach_state_name(rec->state));
	r = check_and_record_origin(run);
	if (r < 0)
		return r;
	identity_note(run);
	rec->state = ATTACH_ATTACHING;
	rec->serial++;
	r = journal_write(run->job->journal, rec, true, run->err);
	if (r < 0) {
		rec->state = ATTACH_FREE;
		rec->serial--;
	}
	return r == 0 && run_is_vf(run) && !rec->plan.no_netdev ? return_renew_before_attach(run)
								: r;
}

/* --- admin ------------------------------------------------------------------------------------ */

/* Sets the VF's MAC, which was just set through the PF, on its netdev, too. mlx5 needs that; igbvf
 * rejects it, and applies the MAC set through the PF only with its next reset. So the netdev is set
 * down first and the error is ignored: attach_step_verify() checks the MAC after it is up. */
static int set_own_mac(struct step_run *run)
{
	const struct net_plan *plan = &run->record->plan;
	struct netdev_change down = {.netns_fd = -1, .up = 0};
	struct netdev_change mac = {
		.netns_fd = -1, .addr = plan->mac, .addr_len = sizeof(plan->mac), .up = -1};
	struct err refused = {0};
	struct nlsock *s = NULL;
	int r = run->at ? 0 : run_find(run);

	if (r < 0)
		return r;
	if (!run->at->is_host || memcmp(run->seen.netdev.addr, plan->mac, sizeof(plan->mac)) == 0)
		return 0;
	r = netns_sockets_rtnl(run->at, &s, run->err);
	if (r == 0 && run->seen.netdev.flags & IFF_UP)
		r = netdev_change(s, run->seen.netdev.ifindex, &down, run->err);
	if (r == 0)
		netdev_change(s, run->seen.netdev.ifindex, &mac, &refused);
	return r;
}

int attach_step_admin(struct step_run *run)
{
	const struct attach_record *rec = run->record;
	const struct vf_settings want = vf_admin_planned(rec);
	int r;

	if (!want.fields)
		return 0;
	if (!rec->origin.pf[0])
		return err_set(run->err, -EOPNOTSUPP,
			       "%s is not a VF: it has no PF to apply the settings", rec->function);
	r = vf_admin_write(run, &want);
	return r == 0 && rec->plan.has_mac && !rec->plan.no_netdev ? set_own_mac(run) : r;
}

/* --- move ------------------------------------------------------------------------------------- */

/* True if the pod already has an interface of the planned name. Used after a move has failed with
 * -EEXIST, which does not show what exists. */
static bool is_name_taken(struct step_run *run)
{
	struct netdev_seen other;
	struct nlsock *s = NULL;

	return netns_sockets_rtnl(&run->pod, &s, NULL) == 0 &&
	       netdev_by_name(s, run->record->plan.ifname, &other, NULL) == 0;
}

static int move_failed(struct step_run *run, int r)
{
	if (r == -EEXIST && is_name_taken(run))
		return err_set(run->err, r, "the pod already has an interface %s",
			       run->record->plan.ifname);
	return err_wrap(run->err, "%s: moving %s into the pod", run->record->function,
			run->seen.netdev.name);
}

/* Returns the desired settings of the interface. alias: buffer for its alias; the result points to
 * it. */
static struct netdev_change planned_link(const struct step_run *run, char alias[ATTACH_ALIAS_SIZE])
{
	const struct attach_record *rec = run->record;
	struct netdev_change c = {
		.netns_fd = -1, .name = rec->plan.ifname, .alias = alias, .up = -1};

	run_alias(run, alias);
	memcpy(c.link, rec->plan.link, sizeof(c.link));
	if (rec->plan.has_mac && !rec->origin.pf[0]) {
		c.addr = rec->plan.mac;
		c.addr_len = sizeof(rec->plan.mac);
	}
	return c;
}

int attach_settle_in_pod(struct step_run *run)
{
	char alias[ATTACH_ALIAS_SIZE];
	struct netdev_change c = planned_link(run, alias);
	struct nlsock *s = NULL;
	int r = netns_sockets_rtnl(run->at, &s, run->err);

	netdev_change_trim(&c, &run->seen);
	if (r < 0 || netdev_change_is_empty(&c))
		return r;
	r = netdev_change(s, run->seen.netdev.ifindex, &c, run->err);
	return r < 0 ? move_failed(run, r) : 0;
}

static int move_from_host(struct step_run *run)
{
	char alias[ATTACH_ALIAS_SIZE];
	struct netdev_change c = planned_link(run, alias);
	struct nlsock *s = NULL;
	int r = run_open_pod(run);

	if (r == 0)
		r = netns_sockets_rtnl(&run->host, &s, run->err);
	if (r < 0)
		return r;
	c.netns_fd = run->pod.netns_fd;
	r = netdev_change(s, run->seen.netdev.ifindex, &c, run->err);
	run->at = NULL;
	return r < 0 ? move_failed(run, r) : 0;
}

/* Moving an RDMA device deletes its IPoIB netdev and recreates it in the new namespace, so the RDMA
 * device is moved first. The new netdev may appear later. */
static int move_ipoib_first(struct step_run *run)
{
	struct retries retries = {0};
	int r = attach_rdma_moves(run);

	if (r <= 0)
		return r;
	r = attach_rdma_move(run);
	kill_point("attach-move-2", "before");
	while (r == 0 && (r = run_find(run)) == -ENODEV && run_again_later(&retries))
		r = 0;
	return r;
}

static int move_function(struct step_run *run)
{
	int r = run->at ? 0 : run_find(run);

	if (r == 0 && run->seen.netdev.type == ARPHRD_INFINIBAND && run->at->is_host)
		r = move_ipoib_first(run);
	if (r < 0)
		return r == -ENODEV
			       ? err_set(run->err, r, "%s has no netdev in the host nor in the pod",
					 run->record->function)
			       : r;
	return run->at->is_host ? move_from_host(run) : attach_settle_in_pod(run);
}

int attach_step_move(struct step_run *run)
{
	int r = run_is_vf(run) ? move_function(run) : stacked_make(run);

	return r > 0 ? attach_settle_in_pod(run) : r;
}

/* --- configure -------------------------------------------------------------------------------- */

/* Makes the kernel announce new addresses to neighbours, and makes addresses usable while duplicate
 * address detection runs (RFC 4429). Stops without an error at the first setting that the kernel
 * does not have: the next settings depend on the same kernel option (IPv6, optimistic DAD). */
static int set_sysctls(struct step_run *run)
{
	static const struct sysctl_setting settings[] = {
		{AF_INET, "arp_notify", "1"},
		{AF_INET6, "ndisc_notify", "1"},
		{AF_INET6, "optimistic_dad", "1"},
		{AF_INET6, "use_optimistic", "1"},
	};
	int r = netns_sysctl(run->hw, run->pod.netns_fd, run->record->plan.ifname, settings,
			     sizeof(settings) / sizeof(settings[0]), run->err);

	return r == -ENOENT ? 0 : r;
}

void attach_planned_net(const struct attach_record *r, struct planned_net *ret)
{
	ret->n_ips = r->plan.n_ips + r->n_ips;
	memcpy(ret->ips, r->plan.ips, r->plan.n_ips * sizeof(r->ips[0]));
	memcpy(ret->ips + r->plan.n_ips, r->ips, r->n_ips * sizeof(r->ips[0]));
	ret->n_routes = r->plan.n_routes + r->n_routes;
	memcpy(ret->routes, r->plan.routes, r->plan.n_routes * sizeof(r->routes[0]));
	memcpy(ret->routes + r->plan.n_routes, r->routes, r->n_routes * sizeof(r->routes[0]));
}

int attach_step_configure(struct step_run *run)
{
	struct planned_net net;
	struct nlsock *s = NULL;
	int r = run_open_pod(run);

	if (r == 0)
		r = set_sysctls(run);
	kill_point("attach-configure-2", "before");
	if (r == 0)
		r = netns_sockets_rtnl(&run->pod, &s, run->err);
	if (r == 0)
		r = netdev_by_name(s, run->record->plan.ifname, &run->seen, run->err);
	if (r < 0)
		return r;
	attach_planned_net(run->record, &net);
	r = stacked_probe(run, net.ips, net.n_ips);
	if (r == 0)
		r = netdev_configure(s, run->seen.netdev.ifindex, net.ips, net.n_ips, net.routes,
				     net.n_routes, true, run->err);
	run->at = NULL;
	return r < 0 ? err_wrap(run->err, "%s in the pod", run->record->plan.ifname) : 0;
}

/* --- rdma, verify, done ----------------------------------------------------------------------- */

int attach_step_rdma(struct step_run *run)
{
	return run->record->plan.soft_roce ? attach_rdma_make(run) : attach_rdma_move(run);
}

/* Retries while only the MAC differs: a driver may apply the MAC set through the PF shortly after
 * the interface is up. */
int attach_step_verify(struct step_run *run)
{
	struct retries retries = {0};
	struct err first;
	unsigned drift = 0;
	int r;

	do {
		first = (struct err){0};
		r = attach_compare(run, &drift, &first);
	} while (r == 0 && drift == VF_MAC && run_again_later(&retries));
	if (r < 0 || (!drift && run->record->plan.no_netdev))
		return r;
	if (!drift)
		return attach_rdma_verify(run);
	*run->err = first;
	return first.code;
}

int attach_step_done(struct step_run *run)
{
	run->record->state = ATTACH_IN_POD;
	return journal_write(run->job->journal, run->record, false, run->err);
}
