/* attach_rdma.c - RDMA devices into pods and back. An exclusive RDMA device belongs to one network
 * namespace and is moved; a shared one is seen everywhere; a soft-RoCE device lives and dies with
 * the netdev it is made on, as soon as that changes its namespace. */
#include "attach_rdma.h"

#include <ctype.h>
#include <zlib.h>

#include "cleanup.h"
#include "function_files.h"
#include "kill_point.h"
#include "rdma_netlink.h"
#include "soft_roce_nodes.h"

/* --- what there is ---------------------------------------------------------------------------- */

static int ask_mode(struct step_run *run)
{
	struct nlsock *s = NULL;
	int r = run_open_host(run);

	if (r < 0 || run->rdma_mode != RDMA_NETNS_UNKNOWN)
		return r;
	r = netns_sockets_rdma(&run->host, &s, run->err);
	return r < 0 ? r : rdma_netlink_mode(s, &run->rdma_mode, run->err);
}

int attach_rdma_moves(struct step_run *run)
{
	const bool unknown = run->job->is_return && !run->record->origin.mtu &&
			     function_has(run->hw, run->record->function, "infiniband");
	int r;

	if (!run_is_vf(run) || (!run->record->origin.rdma[0] && !unknown))
		return 0;
	r = ask_mode(run);
	return r < 0 ? r : run->rdma_mode == RDMA_NETNS_EXCLUSIVE;
}

static int find_in(struct step_run *run, struct netns_sockets *p, const char *name,
		   struct nlsock **ret_sock, struct nldev_dev *ret)
{
	int r = netns_sockets_rdma(p, ret_sock, run->err);

	return r < 0 ? r : rdma_by_name(*ret_sock, name, ret, run->err);
}

/* --- into the pod ----------------------------------------------------------------------------- */

/* Taken by its driver anew, it may bear a new name. */
static void current_name(const struct step_run *run, char ret[RDMA_NAME_SIZE])
{
	char now[RDMA_NAME_SIZE];

	memcpy(ret, run->record->origin.rdma, RDMA_NAME_SIZE);
	if (function_rdma(run->hw, run->record->function, now) == 0 && now[0])
		memcpy(ret, now, sizeof(now));
}

int attach_rdma_move(struct step_run *run)
{
	struct attach_record *rec = run->record;
	char name[RDMA_NAME_SIZE];
	struct nldev_dev dev;
	struct nlsock *s = NULL;
	int r = attach_rdma_moves(run);

	if (r <= 0) {
		memcpy(rec->rdma, rec->origin.rdma, sizeof(rec->rdma));
		return r;
	}
	current_name(run, name);
	r = run_open_pod(run);
	if (r == 0)
		r = find_in(run, &run->host, name, &s, &dev);
	if (r == 0)
		r = rdma_move(s, dev.index, run->pod.netns_fd, run->err);
	else if (r == -ENODEV)
		r = find_in(run, &run->pod, name, &s, &dev);
	if (r < 0)
		return err_wrap(run->err, "%s: its RDMA device %s", rec->function, name);
	memcpy(rec->rdma, name, sizeof(rec->rdma));
	return 0;
}

/* --- soft-RoCE -------------------------------------------------------------------------------- */

void attach_rdma_soft_name(const struct attach_record *r, char ret[RDMA_NAME_SIZE])
{
	const char *from = r->plan.kind == PLAN_VF ? r->function : r->id;
	size_t len = strlen(from);
	int n = snprintf(ret, RDMA_NAME_SIZE, "rxe_%.59s", from);

	if (len > 59)
		snprintf(ret + RDMA_NAME_SIZE - 10, 10, "_%08x",
			 (unsigned)crc32(0, (const void *)from, (uInt)len));
	for (int i = 0; i < n && ret[i]; i++)
		if (!isalnum((unsigned char)ret[i]))
			ret[i] = '_';
}

/* A device made in a namespace belongs to the first one all the same, and rxe cannot be moved. */
static int check_mode(struct step_run *run)
{
	int r = ask_mode(run);

	if (r == 0 && run->rdma_mode == RDMA_NETNS_EXCLUSIVE)
		r = err_set(run->err, -EOPNOTSUPP,
			    "soft-RoCE in pods needs the RDMA subsystem in shared mode");
	return r;
}

static int ensure_rxe(struct step_run *run, const char *name, struct nlsock **ret_sock,
		      struct nldev_dev *ret)
{
	int r = find_in(run, &run->pod, name, ret_sock, ret);

	if (r != -ENODEV)
		return r;
	r = rdma_make_rxe(*ret_sock, name, run->record->plan.ifname, run->err);
	return r < 0 ? r : rdma_by_name(*ret_sock, name, ret, run->err);
}

int attach_rdma_make(struct step_run *run)
{
	struct attach_record *rec = run->record;
	char name[RDMA_NAME_SIZE];
	struct nldev_chardev uverbs;
	struct nldev_dev dev = {0};
	struct nlsock *s = NULL;
	int r = check_mode(run);

	attach_rdma_soft_name(rec, name);
	if (r == 0)
		r = run_open_pod(run);
	if (r == 0)
		r = ensure_rxe(run, name, &s, &dev);
	if (r < 0)
		return err_wrap(run->err, "soft-RoCE device %s", name);
	memcpy(rec->rdma, name, sizeof(rec->rdma));
	kill_point("attach-rdma-2", "before");
	r = rdma_uverbs(s, dev.index, &uverbs, run->err);
	return r < 0 ? err_wrap(run->err, "soft-RoCE device %s", name)
		     : soft_roce_nodes_make(run->hw, rec->id, &uverbs, run->err);
}

int attach_rdma_verify(struct step_run *run)
{
	struct nldev_chardev uverbs;
	struct nldev_dev dev = {0};
	struct nlsock *s = NULL;
	int r;

	if (!run->record->plan.soft_roce)
		return 0;
	r = run_open_pod(run);
	if (r == 0)
		r = find_in(run, &run->pod, run->record->rdma, &s, &dev);
	if (r == 0)
		r = rdma_uverbs(s, dev.index, &uverbs, run->err);
	return r < 0 ? r : soft_roce_nodes_check(run->hw, run->record->id, &uverbs, run->err);
}

/* --- back ------------------------------------------------------------------------------------- */

/* A netdev that leaves its namespace, or dies with it, takes its soft-RoCE device along. One that
 * is deleted while the kernel does that has its sockets released twice, and whoever gets their
 * memory next crashes (rxe_net_del(), drivers/infiniband/sw/rxe/rxe_net.c, from
 * RDMA_NLDEV_CMD_DELLINK and from NETDEV_UNREGISTER at once; seen on Linux 7.3). So what is on its
 * way out is waited for. */
static int delete_or_outlive(struct step_run *run, struct nlsock *s, const char *name)
{
	struct retries retries = {0};
	struct nldev_dev dev;
	int r, where;

	do {
		r = rdma_by_name(s, name, &dev, run->err);
		if (r < 0)
			return r == -ENODEV ? 0 : r;
		where = run_find_anywhere(run, &retries);
		/* A namespace that we have open stays. */
		if (where == 0 && !run->at->is_host)
			return rdma_delete(s, dev.index, run->err);
	} while (run_again_later(&retries));
	if (where == 0)
		return rdma_delete(s, dev.index, run->err);
	return err_set(run->err, -EAGAIN, "%s: its soft-RoCE device %s is on its way out",
		       run->record->function, name);
}

/* In shared mode the host sees it. A kernel without RDMA has none. */
static int delete_rxe(struct step_run *run)
{
	char name[RDMA_NAME_SIZE];
	struct nlsock *s = NULL;
	int r = run_open_host(run);

	if (r == 0)
		r = netns_sockets_rdma(&run->host, &s, run->err);
	if (r < 0)
		return r == -EPROTONOSUPPORT ? 0 : r;
	attach_rdma_soft_name(run->record, name);
	r = delete_or_outlive(run, s, name);
	return r == -ENODEV ? 0 : r;
}

static int return_soft(struct step_run *run)
{
	int r = soft_roce_nodes_remove(run->hw, run->record->id, run->err);

	if (r < 0)
		return r;
	kill_point("back-rdma-2", "before");
	return delete_rxe(run);
}

struct rdma_search {
	struct step_run *run;
	const char *name;
};

static int take_from(struct step_run *run, struct netns_sockets *p, const char *name)
{
	struct nldev_dev dev;
	struct nlsock *s = NULL;
	int r = find_in(run, p, name, &s, &dev);

	return r == 0 ? rdma_move(s, dev.index, run->host.netns_fd, run->err) : r;
}

static int take_from_other(int netns_fd, const char *path, void *arg)
{
	struct rdma_search *s = arg;
	struct netns_sockets p = {
		.netns_fd = netns_fd, .rtnl = NLSOCK_CLOSED, .rdma = NLSOCK_CLOSED};
	int r = take_from(s->run, &p, s->name);

	(void)path;
	nlsock_close(&p.rdma);
	return r == 0 ? -ECANCELED : 0;
}

/* Into the host from wherever it is. -ENODEV: it is nowhere. */
static int take_back(struct step_run *run, const char *name)
{
	struct rdma_search search = {run, name};
	struct nldev_dev dev;
	struct nlsock *s = NULL;
	int r = find_in(run, &run->host, name, &s, &dev);

	if (r != -ENODEV)
		return r;
	if (run_open_pod(run) == 0 && take_from(run, &run->pod, name) == 0)
		return 0;
	r = netns_each(run->hw, take_from_other, &search);
	return r == -ECANCELED ? 0 : r < 0 ? r : -ENODEV;
}

/* A pod may have renamed it. */
static int give_name(struct step_run *run)
{
	const char *own = run->record->origin.rdma;
	char now[RDMA_NAME_SIZE];
	struct nldev_dev dev;
	struct nlsock *s = NULL;
	int r = function_rdma(run->hw, run->record->function, now);

	if (r < 0 || !now[0] || !own[0] || strcmp(now, own) == 0)
		return 0;
	r = find_in(run, &run->host, now, &s, &dev);
	return r < 0 ? r : rdma_rename(s, dev.index, own, run->err);
}

static int bring_own(struct step_run *run)
{
	const struct attach_record *rec = run->record;
	const char *name = rec->rdma[0] ? rec->rdma : rec->origin.rdma;
	struct retries retries = {0};
	int r = run_open_host(run);

	if (r < 0)
		return r;
	while ((r = take_back(run, name)) == -ENODEV &&
	       function_has(run->hw, rec->function, "infiniband")) {
		char now[RDMA_NAME_SIZE];

		/* In the host, but under another name. */
		if (function_rdma(run->hw, rec->function, now) == 0 && now[0])
			return 0;
		if (!run_again_later(&retries))
			return err_set(run->err, -EAGAIN,
				       "%s: its RDMA device %s is in a namespace that is on its "
				       "way out",
				       rec->function, name);
	}
	if (r == -ENODEV)
		return 0;
	return r < 0 ? err_wrap(run->err, "%s: its RDMA device %s", rec->function, name) : 0;
}

static int return_own(struct step_run *run)
{
	int r = bring_own(run);

	return r < 0 ? r : give_name(run);
}

/* A kernel driver makes it in the host, under a name of its own; udev may give it another. */
int attach_rdma_renewed(struct step_run *run)
{
	struct retries retries = {0};
	char now[RDMA_NAME_SIZE] = "";
	int r = run_open_host(run);

	if (r < 0 || !run->record->origin.rdma[0])
		return r;
	while ((function_rdma(run->hw, run->record->function, now) < 0 || !now[0]) &&
	       run_again_later(&retries))
		;
	return give_name(run);
}

int attach_rdma_return(struct step_run *run)
{
	int r = run->record->plan.soft_roce ? return_soft(run) : 0;

	if (r == 0)
		r = attach_rdma_moves(run);
	return r > 0 ? return_own(run) : r;
}
