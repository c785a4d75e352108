// SPDX-License-Identifier: Apache-2.0
/* soft_roce_number.c - see soft_roce_number.h. */
#include "soft_roce_number.h"

#include <sys/random.h>

bool soft_roce_number_is_taken(const struct attach_job *job, const char *uverbs)
{
	for (size_t i = 0; i < job->n_taken; i++)
		if (strcmp(job->taken[i], uverbs) == 0)
			return true;
	return false;
}

/* The name is random, because names of RDMA devices are unique over all namespaces. */
static int make_device(struct placeholder *p, struct nlsock *s, const char *ifname, struct err *e)
{
	char name[RDMA_NAME_SIZE];
	struct nldev_dev dev;
	uint32_t random[2];
	int r;

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return err_set(e, -EAGAIN, "no random numbers");
	snprintf(name, sizeof(name), SOFT_ROCE_PLACEHOLDER "%08x%08x", random[0], random[1]);
	r = rdma_make_rxe(s, name, ifname, e);
	if (r == 0)
		r = rdma_soft_on(s, p->ifindex, name, &dev, e);
	if (r == 0)
		p->index = dev.index;
	return r;
}

int placeholders_add(struct placeholders *h)
{
	struct placeholder *p = &h->items[h->n];
	struct nlsock *rtnl = NULL, *rdma = NULL;
	char ifname[IFNAMSIZ];
	int r;

	if (h->n == PLACEHOLDERS_MAX)
		return err_set(h->run->err, -EBUSY,
			       "containers of other pods may open the lowest %d numbers of device "
			       "nodes that are free",
			       PLACEHOLDERS_MAX);
	snprintf(ifname, sizeof(ifname), "rl-hold%u", h->n);
	r = netns_sockets_rtnl(&h->run->pod, &rtnl, h->run->err);
	if (r == 0)
		r = netns_sockets_rdma(&h->run->pod, &rdma, h->run->err);
	if (r == 0)
		r = netdev_make_veth(rtnl, ifname, &p->ifindex, h->run->err);
	if (r < 0)
		return r;
	p->index = RDMA_INDEX_NONE;
	h->n++;
	return make_device(p, rdma, ifname, h->run->err);
}

/* Deletes each device before its netdev: if both were deleted at once, the device's sockets would
 * be released twice (attach_rdma.c). */
void placeholders_end(struct placeholders *h)
{
	struct nlsock *rtnl = NULL, *rdma = NULL;

	if (h->n == 0 || netns_sockets_rtnl(&h->run->pod, &rtnl, NULL) < 0 ||
	    netns_sockets_rdma(&h->run->pod, &rdma, NULL) < 0)
		return;
	for (unsigned i = 0; i < h->n; i++) {
		const struct placeholder *p = &h->items[i];

		if (p->index == RDMA_INDEX_NONE || rdma_delete(rdma, p->index, NULL) == 0)
			netdev_delete(rtnl, p->ifindex, NULL);
	}
	h->n = 0;
}
