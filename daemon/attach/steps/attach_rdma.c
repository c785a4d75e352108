// SPDX-License-Identifier: Apache-2.0
/* attach_rdma.c - moves or creates RDMA devices in pods, and undoes it. In exclusive mode, an RDMA
 * device belongs to one network namespace and is moved; in shared mode, it is visible in all of
 * them. A soft-RoCE device disappears when its netdev is deleted or changes its namespace.
 *
 * A device is identified by its index, which is recorded when the device is created or first seen,
 * and before that by its netdev or function. Names prove nothing: a process with NET_ADMIN can
 * create and rename devices, in shared mode even those of other namespaces. */
#include "attach_rdma.h"

#include <ctype.h>
#include <sys/random.h>
#include <zlib.h>

#include "function_files.h"
#include "kill_point.h"
#include "rdma_netlink.h"
#include "soft_roce_nodes.h"

/* --- mode and look-up by name ----------------------------------------------------------------- */

static int query_mode(struct step_run *run)
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
	r = query_mode(run);
	return r < 0 ? r : run->rdma_mode == RDMA_NETNS_EXCLUSIVE;
}

static int attach_rdma_find_in(struct step_run *run, struct netns_sockets *p, const char *name,
			       struct nlsock **ret_sock, struct nldev_dev *ret)
{
	int r = netns_sockets_rdma(p, ret_sock, run->err);

	return r < 0 ? r : rdma_by_name(*ret_sock, name, ret, run->err);
}

/* --- identity --------------------------------------------------------------------------------- */

static struct rdma_identity identity_of(const struct nldev_dev *d)
{
	return (struct rdma_identity){.known = true, .index = d->index, .node_guid = d->node_guid};
}

/* Finds the device with this identity. -ENODEV: it is not in this namespace, or another device has
 * the index. */
static int find_identity(struct step_run *run, struct netns_sockets *p,
			 const struct rdma_identity *id, struct nlsock **ret_sock,
			 struct nldev_dev *ret)
{
	int r = netns_sockets_rdma(p, ret_sock, run->err);

	if (r == 0)
		r = rdma_by_index(*ret_sock, id->index, ret, run->err);
	if (r == 0 && id->node_guid && ret->node_guid && id->node_guid != ret->node_guid)
		r = err_set(run->err, -ENODEV, "RDMA device %u is another device now", id->index);
	return r;
}

static int netdev_in(struct step_run *run, struct netns_sockets *p, int *ret_ifindex)
{
	struct netdev_seen seen;
	struct nlsock *s = NULL;
	int r = netns_sockets_rtnl(p, &s, run->err);

	if (r == 0)
		r = netdev_by_function(s, run->record->function, 0, &seen, run->err);
	if (r == 0)
		*ret_ifindex = seen.netdev.ifindex;
	return r;
}

/* Finds the function's own device by a record without an index (an older rocelet's): it has the
 * recorded name and is on the function's netdev. */
static int find_unidentified(struct step_run *run, struct netns_sockets *p, const char *name,
			     struct nlsock **ret_sock, struct nldev_dev *ret)
{
	int own = 0, below = 0;
	int r = attach_rdma_find_in(run, p, name, ret_sock, ret);

	if (r == 0)
		r = netdev_in(run, p, &own);
	if (r == 0)
		r = rdma_netdev(*ret_sock, ret->index, &below, run->err);
	return r == 0 && own != below ? -ENODEV : r;
}

/* Finds the function's own device by its recorded identity. */
static int find_own(struct step_run *run, struct netns_sockets *p, struct nlsock **ret_sock,
		    struct nldev_dev *ret)
{
	const struct attach_record *rec = run->record;
	const struct rdma_identity *id = rec->rdma_id.known ? &rec->rdma_id : &rec->origin.rdma_id;

	if (id->known)
		return find_identity(run, p, id, ret_sock, ret);
	return find_unidentified(run, p, rec->rdma[0] ? rec->rdma : rec->origin.rdma, ret_sock,
				 ret);
}

/* Finds the device in the host by its name in the function's folder in sysfs, which has no index.
 * In exclusive mode no pod can rename it in the host; in shared mode it can, so the name is
 * compared again after the look-up of the index. -ENODEV: it is not in the host; -EAGAIN: it is
 * being renamed. */
static int attach_rdma_find_in_host(struct step_run *run, struct nlsock **ret_sock,
				    struct nldev_dev *ret)
{
	char now[RDMA_NAME_SIZE], then[RDMA_NAME_SIZE];
	int r;

	if (function_rdma(run->hw, run->record->function, now) < 0 || !now[0])
		return -ENODEV;
	r = attach_rdma_find_in(run, &run->host, now, ret_sock, ret);
	if (r == 0 &&
	    (function_rdma(run->hw, run->record->function, then) < 0 || strcmp(now, then) != 0))
		r = err_set(run->err, -EAGAIN, "%s: its RDMA device is being renamed",
			    run->record->function);
	return r;
}

int attach_rdma_note(struct step_run *run)
{
	struct link_origin *o = &run->record->origin;
	struct nlsock *s = NULL;
	struct nldev_dev dev;
	int r = attach_rdma_moves(run);

	if (r <= 0)
		return r;
	r = attach_rdma_find_in_host(run, &s, &dev);
	if (r < 0)
		return err_wrap(run->err, "%s: its RDMA device %s", run->record->function, o->rdma);
	o->rdma_id = identity_of(&dev);
	return 0;
}

/* --- into the pod ----------------------------------------------------------------------------- */

/* Records the device's identity again if the driver was rebound: the device then has a new index.
 * The index is recorded before the move, because in the pod only the index identifies the
 * device. */
static int note_again(struct step_run *run, const struct nldev_dev *dev)
{
	struct rdma_identity *id = &run->record->origin.rdma_id;

	if (id->known && id->index == dev->index)
		return 0;
	*id = identity_of(dev);
	return journal_write(run->job->journal, run->record, false, run->err);
}

static int move_in(struct step_run *run, struct nldev_dev *dev)
{
	struct nlsock *s = NULL;
	int r = run_open_pod(run);

	if (r == 0)
		r = attach_rdma_find_in_host(run, &s, dev);
	if (r == 0)
		r = note_again(run, dev);
	if (r == 0)
		return rdma_move(s, dev->index, run->pod.netns_fd, run->err);
	return r == -ENODEV ? find_own(run, &run->pod, &s, dev) : r;
}

int attach_rdma_move(struct step_run *run)
{
	struct attach_record *rec = run->record;
	struct nldev_dev dev = {0};
	int r = attach_rdma_moves(run);

	if (r <= 0) {
		memcpy(rec->rdma, rec->origin.rdma, sizeof(rec->rdma));
		return r;
	}
	r = move_in(run, &dev);
	if (r < 0)
		return err_wrap(run->err, "%s: its RDMA device %s", rec->function,
				rec->origin.rdma);
	memcpy(rec->rdma, dev.name, sizeof(rec->rdma));
	rec->rdma_id = identity_of(&dev);
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

/* In exclusive mode, a soft-RoCE device that is created in a pod's namespace belongs to the initial
 * namespace, and rxe devices cannot be moved. */
static int check_mode(struct step_run *run)
{
	int r = query_mode(run);

	if (r == 0 && run->rdma_mode == RDMA_NETNS_EXCLUSIVE)
		r = err_set(run->err, -EOPNOTSUPP,
			    "soft-RoCE in pods needs the RDMA subsystem in shared mode");
	return r;
}

/* Number of names to try: a pod that may create devices may have used one. */
#define NAMES_MAX 4

static void another_name(const struct attach_record *rec, char name[RDMA_NAME_SIZE])
{
	uint32_t random = 0;
	size_t len;

	attach_rdma_soft_name(rec, name);
	len = strlen(name);
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return;
	len = len < RDMA_NAME_SIZE - 10 ? len : RDMA_NAME_SIZE - 10;
	snprintf(name + len, RDMA_NAME_SIZE - len, "_%08x", random);
}

/* Creates the device. -EEXIST is success: the interface already has a soft-RoCE device, from our
 * earlier try or made by the pod. In both cases the device is only on this interface. */
static int make_rxe(struct step_run *run, struct nlsock *s, const char *ifname,
		    char name[RDMA_NAME_SIZE])
{
	int r = -ENFILE;

	attach_rdma_soft_name(run->record, name);
	for (int i = 0; i < NAMES_MAX && r == -ENFILE; i++) {
		if (i > 0)
			another_name(run->record, name);
		r = rdma_make_rxe(s, name, ifname, run->err);
	}
	return r == -EEXIST ? 0 : r;
}

/* Creates the device if needed, and finds it by its netdev: another device may have its name. */
static int ensure_rxe(struct step_run *run, char name[RDMA_NAME_SIZE], struct nlsock **ret_sock,
		      struct nldev_dev *ret)
{
	int r = run_find_in(run, &run->pod);

	if (r == 0)
		r = netns_sockets_rdma(&run->pod, ret_sock, run->err);
	if (r == 0)
		r = make_rxe(run, *ret_sock, run->seen.netdev.name, name);
	if (r < 0)
		return r;
	return rdma_soft_on(*ret_sock, run->seen.netdev.ifindex, name, ret, run->err);
}

/* Creates the device and returns its uverbs node, whose number may be taken. */
static int make_any(struct step_run *run, char name[RDMA_NAME_SIZE], struct nlsock **ret_sock,
		    struct nldev_dev *ret, struct nldev_chardev *ret_uverbs)
{
	int r = ensure_rxe(run, name, ret_sock, ret);

	return r < 0 ? r : rdma_uverbs(*ret_sock, ret->index, ret_uverbs, run->err);
}

/* While the device's number is in use, deletes the device, occupies that number by a placeholder,
 * and creates the device again. */
static int make_numbered(struct step_run *run, char name[RDMA_NAME_SIZE], struct nldev_dev *ret,
			 struct nldev_chardev *ret_uverbs)
{
	struct placeholders placeholders = {.run = run};
	struct nlsock *s = NULL;
	int r;

	while ((r = make_any(run, name, &s, ret, ret_uverbs)) == 0 &&
	       soft_roce_number_is_taken(run->job, ret_uverbs->name)) {
		r = rdma_delete(s, ret->index, run->err);
		if (r == 0)
			r = placeholders_add(&placeholders);
		if (r < 0)
			break;
	}
	placeholders_end(&placeholders);
	return r;
}

int attach_rdma_make(struct step_run *run)
{
	struct attach_record *rec = run->record;
	char name[RDMA_NAME_SIZE];
	struct nldev_chardev uverbs;
	struct nldev_dev dev = {0};
	int r = check_mode(run);

	attach_rdma_soft_name(rec, name);
	if (r == 0)
		r = run_open_pod(run);
	if (r == 0)
		r = make_numbered(run, name, &dev, &uverbs);
	if (r < 0)
		return err_wrap(run->err, "soft-RoCE device %s", name);
	memcpy(rec->rdma, dev.name, sizeof(rec->rdma));
	rec->rdma_id = identity_of(&dev);
	snprintf(rec->uverbs, sizeof(rec->uverbs), "%.15s", uverbs.name);
	kill_point("attach-rdma-2", "before");
	return soft_roce_nodes_make(run->hw, rec->id, &uverbs, run->err);
}

static int is_on_netdev(struct step_run *run, struct nlsock *s, const struct nldev_dev *dev)
{
	int below = 0;
	int r = run->at ? 0 : run_find_in(run, &run->pod);

	if (r == 0)
		r = rdma_netdev(s, dev->index, &below, run->err);
	if (r == 0 && below != run->seen.netdev.ifindex)
		r = err_set(run->err, -EUCLEAN, "soft-RoCE device %s is not on %s", dev->name,
			    run->seen.netdev.name);
	return r;
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
		r = find_identity(run, &run->pod, &run->record->rdma_id, &s, &dev);
	if (r == 0)
		r = is_on_netdev(run, s, &dev);
	if (r == 0)
		r = rdma_uverbs(s, dev.index, &uverbs, run->err);
	return r < 0 ? r : soft_roce_nodes_check(run->hw, run->record->id, &uverbs, run->err);
}

int attach_rdma_compare(struct step_run *run)
{
	struct nldev_dev dev = {0};
	struct nlsock *s = NULL;

	if (!run->record->rdma_id.known)
		return 0;
	return find_identity(run, run->at, &run->record->rdma_id, &s, &dev);
}

/* --- return ----------------------------------------------------------------------------------- */

/* Finds the soft-RoCE device by its index, whatever its name is now. Without a recorded index
 * (killed after it was created, an older rocelet's record) finds it on the netdev, if that is in
 * the pod: the device does not survive a move of the netdev to the host. -ENODEV: there is none. */
static int find_soft(struct step_run *run, struct nlsock *host, int where, struct nldev_dev *ret)
{
	const struct rdma_identity *id = &run->record->rdma_id;
	struct nlsock *s = host;
	int r;

	if (id->known)
		return find_identity(run, &run->host, id, &s, ret);
	if (where < 0 || run->at->is_host)
		return where < 0 ? where : -ENODEV;
	r = netns_sockets_rdma(run->at, &s, run->err);
	if (r == 0)
		r = rdma_soft_on(s, run->seen.netdev.ifindex, run->record->rdma, ret, run->err);
	return r;
}

/* True if deleting the device would wait for a process that has it open. The wait would not end if
 * the process is outside of the pod (ib_uverbs_remove_one() in
 * linux/drivers/infiniband/core/uverbs_main.c). */
static bool would_wait(struct step_run *run, struct nlsock *s, const struct nldev_dev *dev)
{
	uint64_t n;

	return rdma_contexts(s, dev->index, &n, NULL) == 0 && n > 0 &&
	       !rdma_rxe_ends_contexts(run->hw);
}

/* When a netdev leaves its namespace, or is deleted with it, the kernel deletes its soft-RoCE
 * device. If we delete the device at the same time, its sockets are released twice, and the next
 * user of their memory crashes (rxe_net_del(), drivers/infiniband/sw/rxe/rxe_net.c, from
 * RDMA_NLDEV_CMD_DELLINK and from NETDEV_UNREGISTER at once; seen on Linux 7.3). So we do not
 * delete a device whose netdev is being moved or deleted, but wait for its end. */
static int delete_or_outlive(struct step_run *run, struct nlsock *s)
{
	struct retries retries = {0};
	struct nldev_dev dev = {0};
	bool open = false;
	int r, where;

	do {
		where = run_find_anywhere(run, &retries);
		r = find_soft(run, s, where, &dev);
		if (r < 0 && r != -EAGAIN)
			return r == -ENODEV ? 0 : r;
		open = r == 0 && would_wait(run, s, &dev);
		/* Our descriptor keeps the namespace, so it is not being removed. */
		if (r == 0 && where == 0 && !run->at->is_host && !open)
			return rdma_delete(s, dev.index, run->err);
	} while (run_again_later(&retries));
	if (open)
		return err_set(run->err, -EBUSY,
			       "%s: a process outside of the pod has the soft-RoCE device %s open, "
			       "and this kernel waits until it is closed",
			       run->record->function, dev.name);
	if (r == 0 && where == 0)
		return rdma_delete(s, dev.index, run->err);
	return err_set(run->err, -EAGAIN, "%s: its soft-RoCE device %s is being deleted",
		       run->record->function, run->record->rdma);
}

/* Deletes the soft-RoCE device, which is visible in the host in shared mode. A kernel without RDMA
 * has no such device. */
static int delete_rxe(struct step_run *run)
{
	struct nlsock *s = NULL;
	int r = run_open_host(run);

	if (r == 0)
		r = netns_sockets_rdma(&run->host, &s, run->err);
	if (r < 0)
		return r == -EPROTONOSUPPORT ? 0 : r;
	r = delete_or_outlive(run, s);
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

static int take_from(struct step_run *run, struct netns_sockets *p)
{
	struct nldev_dev dev;
	struct nlsock *s = NULL;
	int r = find_own(run, p, &s, &dev);

	return r == 0 ? rdma_move(s, dev.index, run->host.netns_fd, run->err) : r;
}

static int take_from_other(int netns_fd, const char *path, void *arg)
{
	struct netns_sockets p = {
		.netns_fd = netns_fd, .rtnl = NLSOCK_CLOSED, .rdma = NLSOCK_CLOSED};
	int r = take_from(arg, &p);

	(void)path;
	nlsock_close(&p.rtnl);
	nlsock_close(&p.rdma);
	return r == 0 ? -ECANCELED : 0;
}

/* Moves the device to the host from whichever namespace it is in. -ENODEV: it is in none. */
static int attach_rdma_take_back(struct step_run *run)
{
	struct nldev_dev dev;
	struct nlsock *s = NULL;
	int r = find_own(run, &run->host, &s, &dev);

	if (r != -ENODEV)
		return r;
	if (run_open_pod(run) == 0 && take_from(run, &run->pod) == 0)
		return 0;
	r = netns_each(run->hw, take_from_other, run);
	return r == -ECANCELED ? 0 : r < 0 ? r : -ENODEV;
}

/* Restores the original name, which a pod may have changed. Does nothing if another device has that
 * name by now. */
static int set_device_name(struct step_run *run)
{
	const char *own = run->record->origin.rdma;
	char now[RDMA_NAME_SIZE];
	struct nldev_dev dev;
	struct nlsock *s = NULL;
	int r = function_rdma(run->hw, run->record->function, now);

	if (r < 0 || !now[0] || !own[0] || strcmp(now, own) == 0)
		return 0;
	r = attach_rdma_find_in_host(run, &s, &dev);
	if (r == 0)
		r = rdma_rename(s, dev.index, own, run->err);
	return r == -EEXIST ? 0 : r;
}

static int bring_own(struct step_run *run)
{
	const struct attach_record *rec = run->record;
	const char *name = rec->rdma[0] ? rec->rdma : rec->origin.rdma;
	struct retries retries = {0};
	int r = run_open_host(run);

	if (r < 0)
		return r;
	while ((r = attach_rdma_take_back(run)) == -ENODEV &&
	       function_has(run->hw, rec->function, "infiniband")) {
		char now[RDMA_NAME_SIZE];

		/* The device has already returned to the host, under another name. */
		if (function_rdma(run->hw, rec->function, now) == 0 && now[0])
			return 0;
		if (!run_again_later(&retries))
			return err_set(
				run->err, -EAGAIN,
				"%s: its RDMA device %s is in a namespace that is being deleted",
				rec->function, name);
	}
	if (r == -ENODEV)
		return 0;
	return r < 0 ? err_wrap(run->err, "%s: its RDMA device %s", rec->function, name) : 0;
}

static int return_own(struct step_run *run)
{
	int r = bring_own(run);

	return r < 0 ? r : set_device_name(run);
}

static int count_contexts(struct step_run *run, uint64_t *ret)
{
	struct nldev_dev dev;
	struct nlsock *s = NULL;
	int r = attach_rdma_find_in_host(run, &s, &dev);

	return r < 0 ? r : rdma_contexts(s, dev.index, ret, run->err);
}

/* Retries while the device is open: exiting processes, and our own scans, close it soon. */
int attach_rdma_is_open(struct step_run *run)
{
	struct retries retries = {0};
	uint64_t n = 0;
	int r = run_open_host(run);

	if (r < 0 || !function_has(run->hw, run->record->function, "infiniband"))
		return r;
	while ((r = count_contexts(run, &n)) == 0 && n > 0 && run_again_later(&retries))
		;
	return r == 0 ? n > 0 : r == -ENODEV ? 0 : r;
}

/* The driver creates the device in the host under a default name, which udev may change. */
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
	return set_device_name(run);
}

int attach_rdma_return(struct step_run *run)
{
	int r = run->record->plan.soft_roce ? return_soft(run) : 0;

	if (r == 0)
		r = attach_rdma_moves(run);
	if (r != 0 || !run->record->origin.rdma[0])
		return r > 0 ? return_own(run) : r;
	r = run_open_host(run);
	return r < 0 ? r : set_device_name(run);
}
