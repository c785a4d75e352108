// SPDX-License-Identifier: Apache-2.0
#include "nldev_list.h"

#include "array.h"

#define DUMP_ATTEMPTS 5

static int nldev_list_on_device(const struct nlmsghdr *h, void *arg)
{
	struct nldev_list *list = arg;
	struct nldev_dev d, *new;

	if (nldev_decode_dev(h, &d) < 0)
		return 0;
	new = array_push(list->items, list->n);
	if (!new)
		return -ENOMEM;
	*new = d;
	return 0;
}

int nldev_list_devices(struct nlsock *s, struct nldev_list *list, struct err *e)
{
	int r = -EAGAIN;

	for (int i = 0; i < DUMP_ATTEMPTS && r == -EAGAIN; i++) {
		list->n = 0;
		r = nlsock_query(
			s, nldev_request(RDMA_NLDEV_CMD_GET, NLM_F_DUMP, NLDEV_ANY, NLDEV_ANY),
			nldev_list_on_device, list, e);
	}
	if (r == 0 && e)
		*e = (struct err){0}; /* clears the error of earlier attempts */
	return r;
}
