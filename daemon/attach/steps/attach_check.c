// SPDX-License-Identifier: Apache-2.0
/* attach_check.c - compares an attachment in its pod with its plan, repairs it, announces it. */
#include <net/if_arp.h>
#include <stdlib.h>

#include "attach_rdma.h"
#include "attach_steps.h"
#include "cleanup.h"
#include "search.h"
#include "vf_admin.h"

/* The error code that means: differs from the plan. Other codes mean that a call failed. */
#define DIFFERS (-EUCLEAN)

/* --- compare ---------------------------------------------------------------------------------- */

__attribute__((format(printf, 4, 5))) static void differs(unsigned *drift, unsigned bit,
							  struct err *first, const char *fmt, ...)
{
	va_list ap;

	*drift |= bit;
	if (first->code)
		return;
	first->code = DIFFERS;
	va_start(ap, fmt);
	vsnprintf(first->msg, sizeof(first->msg), fmt, ap);
	va_end(ap);
}

static void compare_link(const struct step_run *run, unsigned *drift, struct err *first)
{
	const struct net_plan *plan = &run->record->plan;
	const struct netdev *nd = &run->seen.netdev;
	char alias[ATTACH_ALIAS_SIZE];

	run_alias(run, alias);
	if (strcmp(nd->name, plan->ifname) != 0)
		differs(drift, ATTACH_DRIFT_NAME, first, "the interface is named %s, not %s",
			nd->name, plan->ifname);
	if (strcmp(run->seen.alias, alias) != 0)
		differs(drift, ATTACH_DRIFT_NAME, first,
			"%s has the alias \"%.100s\", not that of rocelet", nd->name,
			run->seen.alias);
	if (plan->has_mac && memcmp(nd->addr, plan->mac, sizeof(plan->mac)) != 0)
		differs(drift, VF_MAC, first, "%s does not have the MAC that was set", nd->name);
	for (size_t i = 0; i < N_LINK_FIELDS; i++)
		if (plan->link[i] && nd->link[i] != plan->link[i])
			differs(drift, ATTACH_DRIFT_LINK(i), first, "%s has %s %u, not %u",
				nd->name, link_fields[i].words, nd->link[i], plan->link[i]);
	if (!(nd->flags & IFF_UP))
		differs(drift, ATTACH_DRIFT_DOWN, first, "%s is down", nd->name);
}

static bool has_prefix(const struct ip_prefix *list, size_t n, const struct ip_prefix *p)
{
	return any_of(n, i,
		      list[i].family == p->family && list[i].len == p->len &&
			      memcmp(list[i].addr, p->addr, p->family == AF_INET ? 4 : 16) == 0);
}

/* The pod may add addresses. A few fit without an allocation; addresses beyond the maximum are
 * ignored. */
#define ADDRESSES_FEW 64
#define ADDRESSES_MAX 65536

static int query_addresses(struct step_run *run, struct ip_prefix *has, size_t max)
{
	struct nlsock *s = NULL;
	int r = netns_sockets_rtnl(run->at, &s, run->err);

	return r < 0 ? r : netdev_addresses(s, run->seen.netdev.ifindex, has, max, run->err);
}

/* has: room for `max` addresses. Returns the interface's number of addresses. */
static int compare_with(struct step_run *run, struct ip_prefix *has, int max, unsigned *drift,
			struct err *first)
{
	struct planned_net net;
	int n = query_addresses(run, has, (size_t)max);

	attach_planned_net(run->record, &net);
	for (size_t i = 0; n >= 0 && i < net.n_ips; i++)
		if (!has_prefix(has, (size_t)(n < max ? n : max), &net.ips[i]))
			differs(drift, ATTACH_DRIFT_IPS, first, "%s lacks address %zu of %zu",
				run->seen.netdev.name, i + 1, net.n_ips);
	return n;
}

static int compare_many(struct step_run *run, int max, unsigned *drift, struct err *first)
{
	struct ip_prefix *has = calloc((size_t)max, sizeof(*has));
	int n = has ? compare_with(run, has, max, drift, first)
		    : err_set(run->err, -ENOMEM, "out of memory");

	free(has);
	return n < 0 ? n : 0;
}

static int compare_addresses(struct step_run *run, unsigned *drift, struct err *first)
{
	struct ip_prefix few[ADDRESSES_FEW] = {{0}};
	struct err seen = {0};
	unsigned drift_seen = 0;
	int n;

	if (run->record->plan.n_ips + run->record->n_ips == 0)
		return 0;
	n = compare_with(run, few, ADDRESSES_FEW, &drift_seen, &seen);
	if (n > ADDRESSES_FEW)
		return compare_many(run, n < ADDRESSES_MAX ? n : ADDRESSES_MAX, drift, first);
	if (drift_seen)
		differs(drift, drift_seen, first, "%s", seen.msg);
	return n < 0 ? n : 0;
}

/* A setting that the driver does not report counts as equal. */
static int compare_admin(struct step_run *run, struct vf_settings want, unsigned *drift,
			 struct err *first)
{
	struct vf_settings is;
	unsigned different;
	char names[128];
	int r;

	if (!want.fields)
		return 0;
	r = vf_admin_read(run, &is);
	if (r < 0)
		return r;
	want.fields &= is.fields;
	different = vf_settings_differ(&want, &is);
	if (!different)
		return 0;
	vf_fields_text(different, names, sizeof(names));
	differs(drift, different, first, "VF %d of %s differs from its plan: %s",
		run->record->origin.vf_index, run->record->origin.pf, names);
	return 0;
}

/* Reports a missing RDMA device: the pod has deleted it, or its driver was rebound. Another device
 * may have its number then. */
static int compare_rdma(struct step_run *run, unsigned *drift, struct err *first)
{
	int r = attach_rdma_compare(run);

	if (r != -ENODEV)
		return r;
	differs(drift, ATTACH_DRIFT_RDMA, first, "its RDMA device %s is not in the pod any more",
		run->record->rdma);
	return 0;
}

static int check_in_pod(struct step_run *run)
{
	int r = run_open_pod(run);

	if (r < 0)
		return r;
	r = run_find_in(run, &run->pod);
	return r == -ENODEV ? err_set(run->err, r, "%s is not in the pod any more",
				      run->record->function)
			    : r;
}

/* Compares the netdev, its addresses and its RDMA device. */
static int compare_in_pod(struct step_run *run, unsigned *drift, struct err *first)
{
	int r = check_in_pod(run);

	if (r < 0)
		return r;
	compare_link(run, drift, first);
	r = compare_addresses(run, drift, first);
	return r < 0 ? r : compare_rdma(run, drift, first);
}

static int attach_check_compare(struct step_run *run, const struct vf_settings *admin,
				unsigned *ret_drift, struct err *first)
{
	unsigned drift = 0;
	int r = run->record->plan.no_netdev ? run_open_pod(run)
					    : compare_in_pod(run, &drift, first);

	if (r == 0)
		r = compare_admin(run, *admin, &drift, first);
	if (r == 0)
		*ret_drift = drift;
	return r;
}

int attach_compare(struct step_run *run, unsigned *ret_drift, struct err *first)
{
	const struct vf_settings admin = vf_admin_planned(run->record);

	return attach_check_compare(run, &admin, ret_drift, first);
}

/* --- repair ----------------------------------------------------------------------------------- */

static int repair_link(struct step_run *run, unsigned drift)
{
	struct planned_net net;
	struct nlsock *s = NULL;
	int r = attach_settle_in_pod(run);

	if (r == 0)
		r = netns_sockets_rtnl(run->at, &s, run->err);
	if (r < 0 || !(drift & (ATTACH_DRIFT_DOWN | ATTACH_DRIFT_IPS)))
		return r;
	attach_planned_net(run->record, &net);
	return netdev_configure(s, run->seen.netdev.ifindex, net.ips, net.n_ips, net.routes,
				net.n_routes, true, run->err);
}

/* Sets the interface's own MAC; repair_admin() sets only the PF's setting. */
static int repair_mac(struct step_run *run)
{
	const struct net_plan *plan = &run->record->plan;
	const struct netdev_change c = {
		.netns_fd = -1, .addr = plan->mac, .addr_len = sizeof(plan->mac), .up = -1};
	struct nlsock *s = NULL;
	int r;

	if (!plan->has_mac || memcmp(run->seen.netdev.addr, plan->mac, sizeof(plan->mac)) == 0)
		return 0;
	r = netns_sockets_rtnl(run->at, &s, run->err);
	return r < 0 ? r : netdev_change(s, run->seen.netdev.ifindex, &c, run->err);
}

/* Writes the PF's settings that differ, except GUIDs: those would rebind the driver, and so remove
 * the device from the pod. */
static int repair_admin(struct step_run *run, unsigned drift)
{
	struct vf_settings want = vf_admin_kept(run->record);

	want.fields &= drift & ~VF_GUIDS;
	return want.fields ? vf_admin_write(run, &want) : 0;
}

static int repair_all(struct step_run *run, unsigned drift)
{
	int r = repair_admin(run, drift);

	if (run->record->plan.no_netdev)
		return r;
	if (r == 0)
		r = repair_link(run, drift);
	if (r == 0 && drift & VF_MAC)
		r = repair_mac(run);
	return r;
}

int attach_check(struct attach_job *job, bool repair)
{
	const struct vf_settings admin = vf_admin_kept(&job->record);
	struct err first = {0};
	struct step_run run;
	int r;

	job->err = (struct err){0};
	job->drift = job->left = 0;
	run_begin(&run, job);
	r = attach_check_compare(&run, &admin, &job->drift, &first);
	if (r == 0 && repair && job->drift)
		r = repair_all(&run, job->drift);
	if (r == 0 && repair && job->drift)
		r = attach_compare(&run, &job->left, &first);
	run_end(&run);
	return r;
}

/* --- announce --------------------------------------------------------------------------------- */

static int attach_check_announce(struct step_run *run)
{
	struct planned_net net;
	int r = check_in_pod(run);

	if (r < 0 || run->seen.netdev.type != ARPHRD_ETHER)
		return r;
	if (run->seen.netdev.carrier != CARRIER_ON)
		return err_set(run->err, -EAGAIN, "%s has no carrier yet", run->seen.netdev.name);
	attach_planned_net(run->record, &net);
	return netns_announce(run->pod.netns_fd, run->seen.netdev.ifindex, run->seen.netdev.addr,
			      net.ips, net.n_ips, run->err);
}

int attach_announce(struct attach_job *job)
{
	struct step_run run;
	int r;

	job->err = (struct err){0};
	run_begin(&run, job);
	r = attach_check_announce(&run);
	run_end(&run);
	return r;
}
