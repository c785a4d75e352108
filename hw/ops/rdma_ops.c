// SPDX-License-Identifier: Apache-2.0
/* rdma_ops.c - finds, moves, renames, creates and deletes RDMA devices: one request each, except
 * for look-ups by name and rdma_soft_on().
 *
 * Errors: any rejection by the kernel. rxe rejects a move with -EOPNOTSUPP, the shared mode with
 * -EPERM or -EOPNOTSUPP, depending on the kernel. */
#include "rdma_ops.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "cleanup.h"
#include "nldev.h"
#include "nldev_list.h"
#include "search.h"

static const struct nldev_dev *named(const struct nldev_list *list, const char *name)
{
	return find_first(list->items, list->n, i, strcmp(list->items[i].name, name) == 0);
}

/* Lists all devices, because the kernel finds by index only. */
int rdma_by_name(struct nlsock *s, const char *name, struct nldev_dev *ret, struct err *e)
{
	struct nldev_list list = {0};
	int r = nldev_list_devices(s, &list, e);
	const struct nldev_dev *found = r == 0 ? named(&list, name) : NULL;

	if (found)
		*ret = *found;
	else if (r == 0)
		r = err_set(e, -ENODEV, "no RDMA device of that name in this namespace");
	if (r < 0)
		err_wrap(e, "%s", name);
	free(list.items);
	return r;
}

static int on_one(const struct nlmsghdr *h, void *arg)
{
	return nldev_decode_dev(h, arg);
}

/* Finds the device by index. The kernel returns -EINVAL for an index that is not visible in this
 * namespace (nldev_get_doit()). */
int rdma_by_index(struct nlsock *s, uint32_t index, struct nldev_dev *ret, struct err *e)
{
	struct nldev_dev found = {0};
	int r = nlsock_query(s, nldev_request(RDMA_NLDEV_CMD_GET, 0, index, NLDEV_ANY), on_one,
			     &found, e);

	if (r == -EINVAL || (r == 0 && (!found.name[0] || found.index != index)))
		r = -ENODEV;
	if (r == -ENODEV)
		return err_set(e, r, "no RDMA device with index %u in this namespace", index);
	if (r < 0) {
		err_wrap(e, "RDMA device %u", index);
		return r;
	}
	*ret = found;
	return 0;
}

/* --- soft-RoCE -------------------------------------------------------------------------------- */

static int rdma_on_port(const struct nlmsghdr *h, void *arg)
{
	return nldev_decode_port(h, arg);
}

int rdma_netdev(struct nlsock *s, uint32_t index, int *ret_ifindex, struct err *e)
{
	struct nldev_port port = {0};
	int r = nlsock_query(s, nldev_request(RDMA_NLDEV_CMD_PORT_GET, 0, index, 1), rdma_on_port,
			     &port, e);

	if (r < 0) {
		err_wrap(e, "RDMA device %u: its netdev", index);
		return r;
	}
	*ret_ifindex = port.netdev_ifindex;
	return 0;
}

/* True if the device is a soft-RoCE device on the netdev. Checks the driver, because a NIC's own
 * RDMA device is on the same netdev. False if the device is removed meanwhile. */
static bool is_soft_on(struct nlsock *s, const struct nldev_dev *d, int ifindex)
{
	struct nldev_chardev uverbs;
	int its;

	return rdma_netdev(s, d->index, &its, NULL) == 0 && its == ifindex &&
	       rdma_uverbs(s, d->index, &uverbs, NULL) == 0 &&
	       strcmp(nldev_driver_name(uverbs.driver_id), "rxe") == 0;
}

int rdma_soft_on(struct nlsock *s, int ifindex, const char *guess, struct nldev_dev *ret,
		 struct err *e)
{
	struct nldev_list list = {0};
	int r = nldev_list_devices(s, &list, e);
	const struct nldev_dev *found = NULL;

	if (r == 0)
		found = named(&list, guess);
	if (found && !is_soft_on(s, found, ifindex))
		found = NULL;
	for (size_t i = 0; r == 0 && !found && i < list.n; i++)
		if (is_soft_on(s, &list.items[i], ifindex))
			found = &list.items[i];
	if (found)
		*ret = *found;
	else if (r == 0)
		r = err_set(e, -ENODEV, "the interface has no soft-RoCE device");
	free(list.items);
	return r;
}

/* --- changes ---------------------------------------------------------------------------------- */

/* Sends and frees the request; prefixes errors with `what`. */
static int rdma_change(struct nlsock *s, struct nl_msg *req, const char *what, struct err *e)
{
	int r = nlsock_query(s, req, NULL, NULL, e);

	if (r < 0)
		err_wrap(e, "%s", what);
	return r;
}

int rdma_move(struct nlsock *s, uint32_t index, int netns_fd, struct err *e)
{
	return rdma_change(s, nldev_move(index, netns_fd), "moving the RDMA device", e);
}

int rdma_rename(struct nlsock *s, uint32_t index, const char *name, struct err *e)
{
	return rdma_change(s, nldev_rename(index, name), "renaming the RDMA device", e);
}

int rdma_make_rxe(struct nlsock *s, const char *name, const char *ifname, struct err *e)
{
	return rdma_change(s, nldev_new_link(name, "rxe", ifname), "creating a soft-RoCE device",
			   e);
}

int rdma_delete(struct nlsock *s, uint32_t index, struct err *e)
{
	return rdma_change(s, nldev_delete_link(index), "deleting the RDMA device", e);
}

struct contexts {
	bool known;
	uint64_t n;
};

static void on_resource(const char *name, uint64_t value, void *arg)
{
	struct contexts *c = arg;

	if (strcmp(name, "ctx") == 0)
		*c = (struct contexts){true, value};
}

static int rdma_on_resources(const struct nlmsghdr *h, void *arg)
{
	int r = nldev_decode_resources(h, on_resource, arg);

	return r < 0 ? r : 0;
}

int rdma_contexts(struct nlsock *s, uint32_t index, uint64_t *ret, struct err *e)
{
	struct contexts c = {0};
	int r = nlsock_query(s, nldev_request(RDMA_NLDEV_CMD_RES_GET, 0, index, NLDEV_ANY),
			     rdma_on_resources, &c, e);

	if (r == 0 && !c.known)
		r = err_set(e, -ENODATA, "not reported by the kernel");
	if (r < 0) {
		err_wrap(e, "RDMA device %u: its contexts", index);
		return r;
	}
	*ret = c.n;
	return 0;
}

/* Reads at most 1 MB; rxe's BTF has about 100 KB. */
#define BTF_MAX (1 << 20)

bool rdma_rxe_ends_contexts(const struct hw *hw)
{
	static const char name[] = "rxe_disassociate_ucontext";
	AUTO_FD fd = openat(hw->sys_fd, "kernel/btf/rdma_rxe", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_FREE char *text = fd < 0 ? NULL : malloc(BTF_MAX);
	size_t n = 0;
	ssize_t r = 0;

	while (text && n < BTF_MAX && (r = read(fd, text + n, BTF_MAX - n)) > 0)
		n += (size_t)r;
	return text && r >= 0 && memmem(text, n, name, sizeof(name)) != NULL;
}

static int rdma_on_chardev(const struct nlmsghdr *h, void *arg)
{
	return nldev_decode_chardev(h, arg);
}

int rdma_uverbs(struct nlsock *s, uint32_t index, struct nldev_chardev *ret, struct err *e)
{
	struct nldev_chardev found = {0};
	int r = nlsock_query(s, nldev_get_chardev(index, "uverbs"), rdma_on_chardev, &found, e);

	if (r == 0 && !found.name[0])
		r = err_set(e, -ENOENT, "it has none");
	if (r < 0) {
		err_wrap(e, "RDMA device %u: its uverbs device", index);
		return r;
	}
	*ret = found;
	return 0;
}
