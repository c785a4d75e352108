// SPDX-License-Identifier: Apache-2.0
/* stacked.c - see stacked.h.
 *
 * Success: create the netdev inside the pod's namespace -> record its id; on return, the kernel
 * reports where the netdev with that id is -> delete it there -> the kernel confirms that it was
 * deleted. Failures: a namespace that only a socket pins (nothing can be deleted there; retried), a
 * pod that moves the netdev meanwhile (searched again). */
#include "stacked.h"

#include "function_files.h"
#include "netdev_state_read.h"
#include "network_text.h"

/* --- into the pod ----------------------------------------------------------------------------- */

/* Records the parent. No interface may have the name now, so that an interface that has it later is
 * ours. */
int stacked_fill(struct step_run *run)
{
	struct attach_record *rec = run->record;
	struct netdev_seen seen;
	struct nlsock *s = NULL;
	int r = netns_sockets_rtnl(&run->pod, &s, run->err);

	memset(&rec->origin, 0, sizeof(rec->origin));
	memcpy(rec->origin.parent, run->seen.netdev.name, sizeof(rec->origin.parent));
	rec->link_id = 0;
	if (r == 0)
		r = netdev_by_name(s, rec->plan.ifname, &seen, run->err);
	if (r == 0)
		return err_set(run->err, -EEXIST, "the pod already has an interface %s",
			       rec->plan.ifname);
	return r == -ENODEV ? 0 : r;
}

/* Returns the parent's ifindex in the host. */
static int stacked_find_parent(struct step_run *run, int *ret)
{
	const char *function = run->record->function;
	struct netdev_seen parent;
	struct nlsock *s = NULL;
	int r = run_open_host(run);

	if (r == 0)
		r = netns_sockets_rtnl(&run->host, &s, run->err);
	if (r == 0)
		r = netdev_by_function(s, function, function_ifindex(run->hw, function), &parent,
				       run->err);
	if (r == 0)
		*ret = parent.netdev.ifindex;
	return r;
}

static int steps_stacked_make(struct step_run *run)
{
	const struct attach_record *rec = run->record;
	char alias[ATTACH_ALIAS_SIZE];
	struct nlsock *s = NULL;
	int parent = 0, r = stacked_find_parent(run, &parent);

	run_alias(run, alias);
	if (r == 0)
		r = netns_sockets_rtnl(&run->host, &s, run->err);
	if (r == 0)
		r = netdev_make_stacked(s, &rec->plan, parent, run->pod.netns_fd, alias, run->err);
	return r < 0 ? err_wrap(run->err, "%s: an interface on it for the pod", rec->function) : 0;
}

/* Records the netdev's id. If the kernel does not report it, only our mark identifies the
 * netdev. */
static void note_id(struct step_run *run)
{
	struct attach_record *rec = run->record;
	struct netdev_upper match = {.netns = (unsigned)rec->owner.netns.ino}, found;
	struct err ignored = {0};
	int parent = 0;

	if (rec->link_id || (!run->at && run_find_in(run, &run->pod) < 0) ||
	    stacked_find_parent(run, &parent) < 0)
		return;
	match.ifindex = run->seen.netdev.ifindex;
	if (netdev_upper_find(run->hw, parent, &match, &found) != 1)
		return;
	rec->link_id = found.id;
	journal_write(run->job->journal, rec, false, &ignored);
}

int stacked_make(struct step_run *run)
{
	int found = run_open_pod(run), r;

	if (found == 0)
		found = run_find_in(run, &run->pod);
	r = found == -ENODEV ? steps_stacked_make(run) : found;
	if (r < 0)
		return r;
	note_id(run);
	return found == 0;
}

int stacked_probe(struct step_run *run, const struct ip_prefix *ips, size_t n)
{
	const struct netdev_change up = {.netns_fd = -1, .up = 1};
	const struct netdev *nd = &run->seen.netdev;
	char ip[IP_TEXT_SIZE];
	struct nlsock *s = NULL;
	size_t which = 0;
	uint8_t by[6];
	int r;

	if (run->record->plan.kind != PLAN_MACVLAN || !n || nd->addr_len != sizeof(by))
		return 0;
	r = netns_sockets_rtnl(&run->pod, &s, run->err);
	if (r == 0)
		r = netdev_change(s, nd->ifindex, &up, run->err);
	if (r < 0)
		return r;
	if (netns_probe(run->pod.netns_fd, nd->ifindex, nd->addr, ips, n, PROBE_MS, &which, by) !=
	    1)
		return 0;
	ip_address_text(&ips[which], ip);
	return err_set(run->err, -EADDRINUSE,
		       "%s is in use on the network of %s, by %02x:%02x:%02x:%02x:%02x:%02x", ip,
		       run->record->origin.parent, by[0], by[1], by[2], by[3], by[4], by[5]);
}

/* --- deletion --------------------------------------------------------------------------------- */

static int delete_here(struct step_run *run, struct netns_sockets *p, int ifindex)
{
	struct nlsock *s = NULL;
	int r = netns_sockets_rtnl(p, &s, run->err);

	return r < 0 ? r : netdev_delete(s, ifindex, run->err);
}

/* Deletes it in the namespace with inode u->netns. If that is the record's own, it is opened by its
 * path. */
static int delete_in(struct step_run *run, const struct netdev_upper *u)
{
	struct netns_sockets p = NETNS_SOCKETS_CLOSED;
	struct netns_id id = run->record->owner.netns, own;
	int r = run_open_host(run);

	if (r == 0)
		r = netns_identify(run->host.netns_fd, "/", &own);
	if (r == 0 && own.ino == u->netns)
		return delete_here(run, &run->host, u->ifindex);
	if (id.ino != u->netns)
		id = (struct netns_id){.dev = id.dev, .ino = u->netns};
	if (r == 0)
		r = p.netns_fd = netns_open_anywhere(run->hw, &id, run->err);
	if (r >= 0)
		r = delete_here(run, &p, u->ifindex);
	netns_sockets_close(&p);
	return r;
}

/* Deletes the netdev by its id. Retries, because the kernel may be removing its namespace, and the
 * netdev with it. 0: it does not exist any more. */
static int delete_by_id(struct step_run *run, int parent)
{
	const struct netdev_upper match = {.id = run->record->link_id};
	struct retries retries = {0};
	struct netdev_upper u;
	int r;

	while ((r = netdev_upper_find(run->hw, parent, &match, &u)) == 1) {
		if (retries.n == 0 || run_is_last(&retries))
			delete_in(run, &u);
		if (!run_again_later(&retries))
			break;
	}
	if (r == 1 && netdev_upper_find(run->hw, parent, &match, &u) == 1)
		return err_set(run->err, -EAGAIN,
			       "%s: %.15s %.15s (in its pod: %s) is in namespace net:[%u], "
			       "which cannot be entered: an open socket or mount pins it",
			       run->record->function, u.kind, u.name, run->record->plan.ifname,
			       u.netns);
	return r == 1 ? 0 : r;
}

/* Deletes the netdev by its name or mark. The name counts only if the recorded path leads to the
 * pod's namespace: a namespace with that inode at another path may be the next pod's. Namespaces
 * that cannot be searched are skipped. */
static int delete_marked(struct step_run *run)
{
	int r = run_is_in_its_pod(run) ? 0 : run_search(run);

	if (r == 0)
		r = delete_here(run, run->at, run->seen.netdev.ifindex);
	run->at = NULL;
	return err_is_not_found(r) || r == -EAGAIN ? 0 : r;
}

int stacked_delete(struct step_run *run)
{
	int parent = 0, r = run->record->link_id ? stacked_find_parent(run, &parent) : -ENODATA;

	if (r == 0)
		r = delete_by_id(run, parent);
	if (r == 0 || r == -EAGAIN)
		return r;
	return delete_marked(run);
}
