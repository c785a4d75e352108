/* rdma_qps.c - one dump of the devices, then one dump for each of them.
 *
 * Can fail by: no RDMA netlink; a dump that is not answered. */
#include "rdma_qps.h"

#include "array.h"
#include "cleanup.h"
#include "netns.h"
#include "nldev.h"

#define DUMP_ATTEMPTS 5

void rdma_qp_list_done(struct rdma_qp_list *list)
{
	free(list->items);
	*list = (struct rdma_qp_list){0};
}

struct indices {
	uint32_t *items;
	size_t n;
};

static int on_device(const struct nlmsghdr *h, void *arg)
{
	struct indices *indices = arg;
	struct nldev_dev d;
	uint32_t *index;

	if (nldev_decode_dev(h, &d) < 0)
		return 0;
	index = array_push(indices->items, indices->n);
	if (!index)
		return -ENOMEM;
	*index = d.index;
	return 0;
}

static int keep(const struct nldev_qp *qp, void *arg)
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
	int r = nldev_decode_qps(h, keep, arg);

	return r == -ENOMEM ? r : 0; /* one that cannot be understood is one that is not seen */
}

static int dump_devices(struct nlsock *s, struct indices *indices, struct err *e)
{
	int r = -EAGAIN;

	for (int i = 0; i < DUMP_ATTEMPTS && r == -EAGAIN; i++) {
		indices->n = 0;
		r = nlsock_ask(s,
			       nldev_request(RDMA_NLDEV_CMD_GET, NLM_F_DUMP, NLDEV_ANY, NLDEV_ANY),
			       on_device, indices, e);
	}
	return r;
}

/* What the dump has told before it was interrupted is told again. */
static int dump_qps(struct nlsock *s, uint32_t index, struct rdma_qp_list *list, struct err *e)
{
	size_t before = list->n, dropped = list->dropped;
	int r = -EAGAIN;

	for (int i = 0; i < DUMP_ATTEMPTS && r == -EAGAIN; i++) {
		list->n = before;
		list->dropped = dropped;
		r = nlsock_ask(s, nldev_qp_dump(index), on_qps, list, e);
	}
	return err_is_gone(r) ? 0 : r;
}

int rdma_qps(struct nlsock *s, struct rdma_qp_list *list, struct err *e)
{
	struct indices indices = {0};
	int r = dump_devices(s, &indices, e);

	for (size_t i = 0; i < indices.n && r == 0; i++)
		r = dump_qps(s, indices.items[i], list, e);
	free(indices.items);
	if (r < 0) {
		err_wrap(e, "queue pairs");
		return r;
	}
	if (e)
		*e = (struct err){0}; /* of attempts before */
	return 0;
}

static void read_inside(const struct hw *hw, const char *name, struct rdma_qp_list *list)
{
	AUTO_FD ns = netns_open(hw, name);
	int fd = ns < 0 ? ns : netns_socket(ns, NETLINK_RDMA);
	struct nlsock s;

	if (fd < 0 || nlsock_adopt(&s, fd) < 0)
		return;
	rdma_qps(&s, list, NULL);
	nlsock_close(&s);
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
	for (size_t i = 0; i < n && r == 0; i++)
		read_inside(hw, namespaces[i], list);
	return r;
}
