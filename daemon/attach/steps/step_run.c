// SPDX-License-Identifier: Apache-2.0
/* step_run.c - the namespaces of a run, and the search for a netdev. */
#include "step_run.h"

#include <fcntl.h>
#include <time.h>

#include "cleanup.h"
#include "function_files.h"
#include "netns.h"

/* 2, 4, 8 ... 256, 256 ms: about two seconds in all. */
#define FIRST_WAIT_MS 2
#define LONG_WAIT_MS  256
#define RETRIES_MAX   14

/* --- namespaces ------------------------------------------------------------------------------- */

void netns_sockets_close(struct netns_sockets *p)
{
	nlsock_close(&p->rtnl);
	nlsock_close(&p->rdma);
	if (p->netns_fd >= 0)
		close(p->netns_fd);
	*p = NETNS_SOCKETS_CLOSED;
}

void run_begin(struct step_run *run, struct attach_job *job)
{
	*run = (struct step_run){.job = job,
				 .hw = job->hw,
				 .record = &job->record,
				 .err = &job->err,
				 .host = NETNS_SOCKETS_CLOSED,
				 .pod = NETNS_SOCKETS_CLOSED,
				 .elsewhere = NETNS_SOCKETS_CLOSED,
				 .rdma_mode = RDMA_NETNS_UNKNOWN};
}

void run_end(struct step_run *run)
{
	netns_sockets_close(&run->host);
	netns_sockets_close(&run->pod);
	netns_sockets_close(&run->elsewhere);
}

int run_open_host(struct step_run *run)
{
	int fd;

	if (run->host.netns_fd >= 0)
		return 0;
	fd = netns_open_own();
	if (fd < 0)
		return err_set(run->err, fd, "opening the host's network namespace: %s",
			       strerror(-fd));
	run->host.netns_fd = fd;
	run->host.is_host = true;
	return 0;
}

int run_open_pod(struct step_run *run)
{
	int fd;

	if (run->pod.netns_fd >= 0)
		return 0;
	fd = netns_open_anywhere(run->hw, &run->record->owner.netns, run->err);
	if (fd < 0)
		return fd;
	run->pod.netns_fd = fd;
	return 0;
}

/* Opens the pod's namespace by its path only, for callers that search everywhere else anyway. */
static bool is_at_its_path(struct step_run *run)
{
	if (run->pod.netns_fd < 0)
		run->pod.netns_fd = netns_open_id(run->hw, &run->record->owner.netns, NULL);
	return run->pod.netns_fd >= 0;
}

static int step_run_open_socket(struct netns_sockets *p, struct nlsock *s, int protocol,
				struct err *e)
{
	if (s->fd >= 0)
		return 0;
	return p->is_host ? nlsock_open(s, protocol, e) : netns_nlsock(s, p->netns_fd, protocol, e);
}

int netns_sockets_rtnl(struct netns_sockets *p, struct nlsock **ret, struct err *e)
{
	*ret = &p->rtnl;
	return step_run_open_socket(p, &p->rtnl, NETLINK_ROUTE, e);
}

int netns_sockets_rdma(struct netns_sockets *p, struct nlsock **ret, struct err *e)
{
	*ret = &p->rdma;
	return step_run_open_socket(p, &p->rdma, NETLINK_RDMA, e);
}

/* --- the netdev ------------------------------------------------------------------------------- */

bool run_is_vf(const struct step_run *run)
{
	return run->record->plan.kind == PLAN_VF;
}

bool run_is_in_its_pod(struct step_run *run)
{
	return is_at_its_path(run) && run_find_in(run, &run->pod) == 0;
}

static bool is_stacked(const struct step_run *run, const struct netdev_seen *seen)
{
	const char *kind = run->record->plan.kind == PLAN_MACVLAN ? "macvlan" : "ipvlan";

	return strcmp(seen->netdev.kind, kind) == 0;
}

void run_alias(const struct step_run *run, char ret[ATTACH_ALIAS_SIZE])
{
	const char *ifname = run->record->plan.ifname;
	size_t n, most = ATTACH_ALIAS_SIZE - 2 - strlen(ifname);

	attach_alias(run->record, ret);
	if (run_is_vf(run))
		return;
	n = strlen(ret);
	n = n < most ? n : most;
	snprintf(ret + n, ATTACH_ALIAS_SIZE - n, " %s", ifname);
}

/* Searches by name (only in the pod) and kind, then by our mark: outside of the pod any interface
 * may have the name, and the pod may have renamed it. */
static int find_stacked(struct step_run *run, struct nlsock *s, bool in_pod)
{
	char alias[ATTACH_ALIAS_SIZE];
	int r = in_pod ? netdev_by_name(s, run->record->plan.ifname, &run->seen, run->err)
		       : -ENODEV;

	if (r != -ENODEV && (r < 0 || is_stacked(run, &run->seen)))
		return r;
	run_alias(run, alias);
	r = netdev_by_alias(s, alias, &run->seen, run->err);
	if (r == 0 && !is_stacked(run, &run->seen))
		return err_set(run->err, -ENODEV, "%s in the pod is not the attached interface",
			       run->seen.netdev.name);
	return r;
}

/* Tries the last ifindex first: in most cases a move to another namespace keeps it. */
static int find_vf(struct step_run *run, struct netns_sockets *p, struct nlsock *s)
{
	const char *function = run->record->function;
	int guess = run->seen.netdev.ifindex;

	if (!guess && p->is_host)
		guess = function_ifindex(run->hw, function);
	return netdev_by_function(s, function, guess, &run->seen, run->err);
}

int run_find_in(struct step_run *run, struct netns_sockets *p)
{
	struct nlsock *s = NULL;
	int r = netns_sockets_rtnl(p, &s, run->err);

	run->at = NULL;
	if (r == 0)
		r = run_is_vf(run) ? find_vf(run, p, s) : find_stacked(run, s, p == &run->pod);
	if (r == 0)
		run->at = p;
	return r;
}

int run_find(struct step_run *run)
{
	int r = run_open_host(run);

	if (r == 0 && run_is_vf(run))
		r = run_find_in(run, &run->host);
	else if (r == 0)
		r = -ENODEV;
	if (r != -ENODEV)
		return r;
	r = run_open_pod(run);
	return r < 0 ? r : run_find_in(run, &run->pod);
}

/* Keeps the namespace open if the netdev is in it. A namespace that cannot be entered is skipped.
 */
static int run_find_elsewhere(int netns_fd, const char *path, void *arg)
{
	struct step_run *run = arg;
	int r;

	(void)path;
	run->elsewhere.netns_fd = fcntl(netns_fd, F_DUPFD_CLOEXEC, 0);
	if (run->elsewhere.netns_fd < 0)
		return -errno;
	r = run_find_in(run, &run->elsewhere);
	if (r == 0)
		return -ECANCELED;
	netns_sockets_close(&run->elsewhere);
	return 0;
}

static int search_namespaces(struct step_run *run)
{
	int r;

	netns_sockets_close(&run->elsewhere);
	r = netns_each(run->hw, run_find_elsewhere, run);
	if (r == -ECANCELED)
		return 0;
	if (r < 0)
		return err_set(run->err, r, "%s: searching the network namespaces: %s",
			       run->record->function, strerror(-r));
	run->at = NULL;
	if (r == NETNS_INCOMPLETE && function_has(run->hw, run->record->function, "driver"))
		return err_set(
			run->err, -EAGAIN,
			"%s: its netdev was not found, and not all namespaces could be searched",
			run->record->function);
	return err_set(run->err, -ENODEV, "%s has no netdev", run->record->function);
}

int run_search(struct step_run *run)
{
	int r = run_open_host(run);

	if (r == 0)
		r = run_find_in(run, &run->host);
	return r == -ENODEV ? search_namespaces(run) : r;
}

bool run_is_last(const struct retries *retries)
{
	return retries->n == RETRIES_MAX - 1;
}

int run_find_anywhere(struct step_run *run, const struct retries *retries)
{
	const bool everywhere = retries->n == 0 || run_is_last(retries);
	int r = run_open_host(run);

	if (r == 0)
		r = run_is_vf(run) ? run_find_in(run, &run->host) : -ENODEV;
	if (r != -ENODEV)
		return r;
	if (run_is_in_its_pod(run))
		return 0;
	if (run->elsewhere.netns_fd >= 0 && run_find_in(run, &run->elsewhere) == 0)
		return 0;
	r = everywhere ? search_namespaces(run) : -ENODEV;
	if (r == -ENODEV && function_has(run->hw, run->record->function, "net"))
		return err_set(run->err, -EAGAIN,
			       "%s: its netdev is in a namespace that is being deleted",
			       run->record->function);
	return r;
}

bool run_again_later(struct retries *retries)
{
	const long ms = FIRST_WAIT_MS << retries->n;
	const struct timespec moment = {.tv_nsec = (ms < LONG_WAIT_MS ? ms : LONG_WAIT_MS) *
						   1000000L};

	if (++retries->n >= RETRIES_MAX)
		return false;
	nanosleep(&moment, NULL);
	return true;
}
