/* rdma_ops.c - finds, moves, renames, makes and deletes RDMA devices: one request each.
 *
 * Can fail by: whatever the kernel refuses. rxe answers a move with -EOPNOTSUPP, the shared mode
 * with -EPERM or -EOPNOTSUPP, depending on the kernel. */
#include "rdma_ops.h"

#include "nldev.h"

#define DUMP_ATTEMPTS 5

struct name_search {
	const char *name;
	struct nldev_dev found; /* name "" = not yet */
};

static int on_device(const struct nlmsghdr *h, void *arg)
{
	struct name_search *search = arg;
	struct nldev_dev d;

	if (nldev_decode_dev(h, &d) == 0 && strcmp(d.name, search->name) == 0)
		search->found = d;
	return 0;
}

/* The kernel finds by index only. */
int rdma_by_name(struct nlsock *s, const char *name, struct nldev_dev *ret, struct err *e)
{
	struct name_search search = {.name = name};
	int r = -EAGAIN;

	for (int i = 0; i < DUMP_ATTEMPTS && r == -EAGAIN; i++) {
		search.found.name[0] = '\0';
		r = nlsock_ask(s,
			       nldev_request(RDMA_NLDEV_CMD_GET, NLM_F_DUMP, NLDEV_ANY, NLDEV_ANY),
			       on_device, &search, e);
	}
	if (r == 0 && !search.found.name[0])
		r = err_set(e, -ENODEV, "no RDMA device of that name here");
	if (r < 0) {
		err_wrap(e, "%s", name);
		return r;
	}
	*ret = search.found;
	return 0;
}

/* Asks, frees the request, and says what it was for. */
static int rdma_change(struct nlsock *s, struct nl_msg *req, const char *what, struct err *e)
{
	int r = nlsock_ask(s, req, NULL, NULL, e);

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
	return rdma_change(s, nldev_new_link(name, "rxe", ifname), "making a soft-RoCE device", e);
}

int rdma_delete(struct nlsock *s, uint32_t index, struct err *e)
{
	return rdma_change(s, nldev_delete_link(index), "deleting the RDMA device", e);
}

static int on_chardev(const struct nlmsghdr *h, void *arg)
{
	return nldev_decode_chardev(h, arg);
}

int rdma_uverbs(struct nlsock *s, uint32_t index, struct nldev_chardev *ret, struct err *e)
{
	struct nldev_chardev found = {0};
	int r = nlsock_ask(s, nldev_get_chardev(index, "uverbs"), on_chardev, &found, e);

	if (r == 0 && !found.name[0])
		r = err_set(e, -ENOENT, "it has none");
	if (r < 0) {
		err_wrap(e, "RDMA device %u: its uverbs device", index);
		return r;
	}
	*ret = found;
	return 0;
}
