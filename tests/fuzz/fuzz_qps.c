// SPDX-License-Identifier: Apache-2.0
/* Sources of queue pairs and their owners: RDMA netlink's dump into the table, and a process's
 * cgroups.
 *
 * proves: daemon/qp hw/netlink
 * when: turns 4
 * when: soak 120 */
#include <stdlib.h>
#include <string.h>

#include "exact_copy.h"
#include "nlsock.h"
#include "process_owner.h"
#include "qp_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

struct list {
	struct nldev_qp items[64];
	size_t n;
};

static int on_qp(const struct nldev_qp *qp, void *arg)
{
	struct list *list = arg;

	if (list->n == 64 || strlen(qp->device) >= sizeof(qp->device) ||
	    strlen(qp->owner) >= sizeof(qp->owner))
		return -1;
	list->items[list->n++] = *qp;
	return 0;
}

static int on_message(const struct nlmsghdr *h, void *arg)
{
	nldev_decode_qps(h, on_qp, arg);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	uint8_t *buf = exact_copy(data, n);
	struct qp_table table = {0};
	struct list list = {.n = 0};
	char uid[POD_UID_SIZE];

	if (!buf)
		return 0;
	nlsock_walk(buf, n, on_message, &list);
	/* Into an empty table first, then into the resulting one. */
	for (uint64_t i = 0; i < 2; i++)
		qp_table_replace(&table, list.items, list.n, i);
	for (size_t i = 0; i < list.n; i++)
		if (!qp_table_find(&table, list.items[i].device, list.items[i].qpn))
			abort();
	if (cgroup_pod_uid((const char *)buf, n, uid) && strlen(uid) != 36 && strlen(uid) != 32)
		abort();
	qp_table_done(&table);
	free(buf);
	return 0;
}
