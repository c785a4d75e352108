// SPDX-License-Identifier: Apache-2.0
/* rdma_qps.c - dumps the devices, then the queue pairs of each device.
 *
 * Errors: no RDMA netlink; a dump without answer; a namespace that cannot be entered. The other
 * devices and namespaces are still read. */
#include "rdma_qps.h"

#include "array.h"
#include "cleanup.h"
#include "netns.h"
#include "nldev.h"
#include "nldev_list.h"

#define DUMP_ATTEMPTS 5

void rdma_qp_list_done(struct rdma_qp_list *list)
{
	free(list->items);
	free(list->devices);
	*list = (struct rdma_qp_list){0};
}

static int keep_qp(const struct nldev_qp *qp, void *arg)
{
	struct rdma_qp_list *list = arg;
	struct nldev_qp *slot;

	if (list->n >= list->max) {
		list->dropped++;
		return 0;
	}
	slot = array_push(list->items, list->n);
	if (!slot)
		return -ENOMEM;
	*slot = *qp;
	return 0;
}

static int on_qps(const struct nlmsghdr *h, void *arg)
{
	int r = nldev_decode_qps(h, keep_qp, arg);

	return r == -ENOMEM ? r : 0; /* a malformed message is skipped */
}

/* Dumps the queue pairs of a device. Drops the entries of an interrupted dump, because the next
 * attempt repeats them. */
static int dump_qps(struct nlsock *s, uint32_t index, struct rdma_qp_list *list, struct err *e)
{
	size_t before = list->n, dropped = list->dropped;
	int r = -EAGAIN;

	for (int i = 0; i < DUMP_ATTEMPTS && r == -EAGAIN; i++) {
		list->n = before;
		list->dropped = dropped;
		r = nlsock_query(s, nldev_qp_dump(index), on_qps, list, e);
	}
	if (r == 0 || err_is_not_found(r))
		return 0;
	list->n = before;
	list->dropped = dropped;
	return r;
}

static int dump_device(struct nlsock *s, const struct nldev_dev *d, struct rdma_qp_list *list,
		       struct err *e)
{
	int r = dump_qps(s, d->index, list, e);
	char(*slot)[RDMA_NAME_SIZE];

	if (r < 0) {
		if (e->code)
			err_wrap(e, "%s", d->name);
		return r;
	}
	slot = array_push(list->devices, list->n_devices);
	if (!slot)
		return -ENOMEM;
	snprintf(*slot, sizeof(*slot), "%s", d->name);
	return 0;
}

/* Returns the first error, and copies its message if r is the first one; e may be NULL. */
static int first_error(int first, int r, const struct err *one, struct err *e)
{
	if (first < 0 || r == 0)
		return first;
	return e ? err_set(e, r, "%s", one->code ? one->msg : strerror(-r)) : r;
}

/* Appends the queue pairs of the devices visible in the socket's namespace; a device removed
 * meanwhile has none. */
static int rdma_qps(struct nlsock *s, struct rdma_qp_list *list, struct err *e)
{
	struct nldev_list devices = {0};
	struct err one = {0};
	int r = first_error(0, nldev_list_devices(s, &devices, &one), &one, e);

	for (size_t i = 0; i < devices.n && r != -ENOMEM; i++) {
		one = (struct err){0};
		r = first_error(r, dump_device(s, &devices.items[i], list, &one), &one, e);
	}
	free(devices.items);
	if (r < 0)
		err_wrap(e, "queue pairs");
	else if (e)
		*e = (struct err){0};
	return r;
}

static int read_inside(const struct hw *hw, const char *name, struct rdma_qp_list *list,
		       struct err *e)
{
	AUTO_FD ns = netns_open(hw, name);
	int r = ns < 0 ? ns : netns_socket(ns, NETLINK_RDMA);
	struct nlsock s;

	if (r >= 0)
		r = nlsock_adopt(&s, r);
	if (r < 0)
		return ns == -ENOENT
			       ? 0
			       : err_set(e, r, "queue pairs: in %.64s: %s", name, strerror(-r));
	r = rdma_qps(&s, list, e);
	nlsock_close(&s);
	return r;
}

int hw_read_qps(const struct hw *hw, const char (*namespaces)[NETNS_NAME_SIZE], size_t n,
		struct rdma_qp_list *list, struct err *e)
{
	struct nlsock s;
	int r = nlsock_open(&s, NETLINK_RDMA, e);

	if (r < 0)
		return r;
	r = rdma_qps(&s, list, e);
	nlsock_close(&s);
	for (size_t i = 0; i < n; i++) {
		struct err one = {0};

		r = first_error(r, read_inside(hw, namespaces[i], list, &one), &one, e);
	}
	return r;
}
