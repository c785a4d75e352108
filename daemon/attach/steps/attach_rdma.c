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

static int ask_mode(struct work *w)
{
	struct nlsock *s = NULL;
	int r = work_open_host(w);

	if (r < 0 || w->rdma_mode != RDMA_NETNS_UNKNOWN)
		return r;
	r = place_rdma(&w->host, &s, w->err);
	return r < 0 ? r : rdma_netlink_mode(s, &w->rdma_mode, w->err);
}

int attach_rdma_moves(struct work *w)
{
	const bool unknown = w->job->is_return && !w->record->origin.mtu &&
			     function_has(w->hw, w->record->function, "infiniband");
	int r;

	if (!work_is_vf(w) || (!w->record->origin.rdma[0] && !unknown))
		return 0;
	r = ask_mode(w);
	return r < 0 ? r : w->rdma_mode == RDMA_NETNS_EXCLUSIVE;
}

static int find_in(struct work *w, struct place *p, const char *name, struct nlsock **ret_sock,
		   struct nldev_dev *ret)
{
	int r = place_rdma(p, ret_sock, w->err);

	return r < 0 ? r : rdma_by_name(*ret_sock, name, ret, w->err);
}

/* --- into the pod ----------------------------------------------------------------------------- */

/* Taken by its driver anew, it may bear a new name. */
static void current_name(const struct work *w, char ret[RDMA_NAME_SIZE])
{
	char now[RDMA_NAME_SIZE];

	memcpy(ret, w->record->origin.rdma, RDMA_NAME_SIZE);
	if (function_rdma(w->hw, w->record->function, now) == 0 && now[0])
		memcpy(ret, now, sizeof(now));
}

int attach_rdma_move(struct work *w)
{
	struct attach_record *rec = w->record;
	char name[RDMA_NAME_SIZE];
	struct nldev_dev dev;
	struct nlsock *s = NULL;
	int r = attach_rdma_moves(w);

	if (r <= 0) {
		memcpy(rec->rdma, rec->origin.rdma, sizeof(rec->rdma));
		return r;
	}
	current_name(w, name);
	r = work_open_pod(w);
	if (r == 0)
		r = find_in(w, &w->host, name, &s, &dev);
	if (r == 0)
		r = rdma_move(s, dev.index, w->pod.netns_fd, w->err);
	else if (r == -ENODEV)
		r = find_in(w, &w->pod, name, &s, &dev);
	if (r < 0)
		return err_wrap(w->err, "%s: its RDMA device %s", rec->function, name);
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
static int check_mode(struct work *w)
{
	int r = ask_mode(w);

	if (r == 0 && w->rdma_mode == RDMA_NETNS_EXCLUSIVE)
		r = err_set(w->err, -EOPNOTSUPP,
			    "soft-RoCE in pods needs the RDMA subsystem in shared mode");
	return r;
}

static int ensure_rxe(struct work *w, const char *name, struct nlsock **ret_sock,
		      struct nldev_dev *ret)
{
	int r = find_in(w, &w->pod, name, ret_sock, ret);

	if (r != -ENODEV)
		return r;
	r = rdma_make_rxe(*ret_sock, name, w->record->plan.ifname, w->err);
	return r < 0 ? r : rdma_by_name(*ret_sock, name, ret, w->err);
}

int attach_rdma_make(struct work *w)
{
	struct attach_record *rec = w->record;
	char name[RDMA_NAME_SIZE];
	struct nldev_chardev uverbs;
	struct nldev_dev dev = {0};
	struct nlsock *s = NULL;
	int r = check_mode(w);

	attach_rdma_soft_name(rec, name);
	if (r == 0)
		r = work_open_pod(w);
	if (r == 0)
		r = ensure_rxe(w, name, &s, &dev);
	if (r < 0)
		return err_wrap(w->err, "soft-RoCE device %s", name);
	memcpy(rec->rdma, name, sizeof(rec->rdma));
	kill_point("attach-rdma-2", "before");
	r = rdma_uverbs(s, dev.index, &uverbs, w->err);
	return r < 0 ? err_wrap(w->err, "soft-RoCE device %s", name)
		     : soft_roce_nodes_make(w->hw, rec->id, &uverbs, w->err);
}

int attach_rdma_verify(struct work *w)
{
	struct nldev_chardev uverbs;
	struct nldev_dev dev = {0};
	struct nlsock *s = NULL;
	int r;

	if (!w->record->plan.soft_roce)
		return 0;
	r = work_open_pod(w);
	if (r == 0)
		r = find_in(w, &w->pod, w->record->rdma, &s, &dev);
	if (r == 0)
		r = rdma_uverbs(s, dev.index, &uverbs, w->err);
	return r < 0 ? r : soft_roce_nodes_check(w->hw, w->record->id, &uverbs, w->err);
}

/* --- back ------------------------------------------------------------------------------------- */

/* A netdev that leaves its namespace, or dies with it, takes its soft-RoCE device along. One that
 * is deleted while the kernel does that has its sockets released twice, and whoever gets their
 * memory next crashes (rxe_net_del(), drivers/infiniband/sw/rxe/rxe_net.c, from
 * RDMA_NLDEV_CMD_DELLINK and from NETDEV_UNREGISTER at once; seen on Linux 7.3). So what is on its
 * way out is waited for. */
static int delete_or_outlive(struct work *w, struct nlsock *s, const char *name)
{
	struct patience p = {0};
	struct nldev_dev dev;
	int r, where;

	do {
		r = rdma_by_name(s, name, &dev, w->err);
		if (r < 0)
			return r == -ENODEV ? 0 : r;
		where = work_find_anywhere(w, &p);
		/* A namespace that we have open stays. */
		if (where == 0 && !w->at->is_host)
			return rdma_delete(s, dev.index, w->err);
	} while (work_wait(&p));
	if (where == 0)
		return rdma_delete(s, dev.index, w->err);
	return err_set(w->err, -EAGAIN, "%s: its soft-RoCE device %s is on its way out",
		       w->record->function, name);
}

/* In shared mode the host sees it. A kernel without RDMA has none. */
static int delete_rxe(struct work *w)
{
	char name[RDMA_NAME_SIZE];
	struct nlsock *s = NULL;
	int r = work_open_host(w);

	if (r == 0)
		r = place_rdma(&w->host, &s, w->err);
	if (r < 0)
		return r == -EPROTONOSUPPORT ? 0 : r;
	attach_rdma_soft_name(w->record, name);
	r = delete_or_outlive(w, s, name);
	return r == -ENODEV ? 0 : r;
}

static int return_soft(struct work *w)
{
	int r = soft_roce_nodes_remove(w->hw, w->record->id, w->err);

	if (r < 0)
		return r;
	kill_point("back-rdma-2", "before");
	return delete_rxe(w);
}

struct rdma_search {
	struct work *w;
	const char *name;
};

static int take_from(struct work *w, struct place *p, const char *name)
{
	struct nldev_dev dev;
	struct nlsock *s = NULL;
	int r = find_in(w, p, name, &s, &dev);

	return r == 0 ? rdma_move(s, dev.index, w->host.netns_fd, w->err) : r;
}

static int take_from_other(int netns_fd, const char *path, void *arg)
{
	struct rdma_search *s = arg;
	struct place p = {.netns_fd = netns_fd, .rtnl = NLSOCK_CLOSED, .rdma = NLSOCK_CLOSED};
	int r = take_from(s->w, &p, s->name);

	(void)path;
	nlsock_close(&p.rdma);
	return r == 0 ? -ECANCELED : 0;
}

/* Into the host from wherever it is. -ENODEV: it is nowhere. */
static int take_back(struct work *w, const char *name)
{
	struct rdma_search search = {w, name};
	struct nldev_dev dev;
	struct nlsock *s = NULL;
	int r = find_in(w, &w->host, name, &s, &dev);

	if (r != -ENODEV)
		return r;
	if (work_open_pod(w) == 0 && take_from(w, &w->pod, name) == 0)
		return 0;
	r = netns_each(w->hw, take_from_other, &search);
	return r == -ECANCELED ? 0 : r < 0 ? r : -ENODEV;
}

/* A pod may have renamed it. */
static int give_name(struct work *w)
{
	const char *own = w->record->origin.rdma;
	char now[RDMA_NAME_SIZE];
	struct nldev_dev dev;
	struct nlsock *s = NULL;
	int r = function_rdma(w->hw, w->record->function, now);

	if (r < 0 || !now[0] || !own[0] || strcmp(now, own) == 0)
		return 0;
	r = find_in(w, &w->host, now, &s, &dev);
	return r < 0 ? r : rdma_rename(s, dev.index, own, w->err);
}

static int bring_own(struct work *w)
{
	const struct attach_record *rec = w->record;
	const char *name = rec->rdma[0] ? rec->rdma : rec->origin.rdma;
	struct patience p = {0};
	int r = work_open_host(w);

	if (r < 0)
		return r;
	while ((r = take_back(w, name)) == -ENODEV &&
	       function_has(w->hw, rec->function, "infiniband")) {
		char now[RDMA_NAME_SIZE];

		/* In the host, but under another name. */
		if (function_rdma(w->hw, rec->function, now) == 0 && now[0])
			return 0;
		if (!work_wait(&p))
			return err_set(w->err, -EAGAIN,
				       "%s: its RDMA device %s is in a namespace that is on its "
				       "way out",
				       rec->function, name);
	}
	if (r == -ENODEV)
		return 0;
	return r < 0 ? err_wrap(w->err, "%s: its RDMA device %s", rec->function, name) : 0;
}

static int return_own(struct work *w)
{
	int r = bring_own(w);

	return r < 0 ? r : give_name(w);
}

/* A kernel driver makes it in the host, under a name of its own; udev may give it another. */
int attach_rdma_renewed(struct work *w)
{
	struct patience p = {0};
	char now[RDMA_NAME_SIZE] = "";
	int r = work_open_host(w);

	if (r < 0 || !w->record->origin.rdma[0])
		return r;
	while ((function_rdma(w->hw, w->record->function, now) < 0 || !now[0]) && work_wait(&p))
		;
	return give_name(w);
}

int attach_rdma_return(struct work *w)
{
	int r = w->record->plan.soft_roce ? return_soft(w) : 0;

	if (r == 0)
		r = attach_rdma_moves(w);
	return r > 0 ? return_own(w) : r;
}
