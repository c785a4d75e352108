/* rdma_qps.h - the queue pairs that RDMA netlink shows: the I/O around nldev.h, synchronous. */
#pragma once

#include "hw.h"
#include "nldev.h"
#include "nlsock.h"

/* Zero-initialised it is empty. */
struct rdma_qp_list {
	struct nldev_qp *items; /* owned */
	size_t n;
	size_t max;	/* more are counted, not kept */
	size_t dropped; /* for want of room */
	/* Those whose queue pairs are all here, but for what was dropped; owned. */
	char (*devices)[RDMA_NAME_SIZE];
	size_t n_devices;
};

void rdma_qp_list_done(struct rdma_qp_list *);

/* Appends the queue pairs of the devices that the socket's namespace shows; a device that leaves
 * meanwhile has none. One that fails adds nothing, and the others are asked all the same: the first
 * error is told. Costs a firmware command each, see nldev.h. */
int rdma_qps(struct nlsock *, struct rdma_qp_list *, struct err *);

/* The same of our own namespace and, for the exclusive mode, of these others by name (in the shared
 * mode all show the same); one that is gone is left out. Of errors as above. */
int hw_read_qps(const struct hw *, const char (*namespaces)[NETNS_NAME_SIZE], size_t n,
		struct rdma_qp_list *, struct err *);
