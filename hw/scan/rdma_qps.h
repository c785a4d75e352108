/* SPDX-License-Identifier: Apache-2.0 */
/* rdma_qps.h - reads queue pairs over RDMA netlink: the I/O for nldev.h, synchronous. */
#pragma once

#include "hw.h"
#include "nldev.h"
#include "nlsock.h"

/* Zero-initialised it is empty. */
struct rdma_qp_list {
	struct nldev_qp *items; /* owned */
	size_t n;
	size_t max;	/* limit of n; further ones are only counted */
	size_t dropped; /* number of queue pairs beyond the limit */
	/* Devices whose queue pairs are complete except for dropped ones; owned. */
	char (*devices)[RDMA_NAME_SIZE];
	size_t n_devices;
};

void rdma_qp_list_done(struct rdma_qp_list *);

/* Reads the queue pairs of our own namespace and, in exclusive mode, of these other namespaces by
 * name (in shared mode every namespace has the same devices). Removed namespaces and devices are
 * skipped. A device that fails adds nothing and does not stop the others; returns the first error.
 * Costs a firmware command per queue pair, see nldev.h. */
int hw_read_qps(const struct hw *, const char (*namespaces)[NETNS_NAME_SIZE], size_t n,
		struct rdma_qp_list *, struct err *);
