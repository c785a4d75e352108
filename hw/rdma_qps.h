/* rdma_qps.h - the queue pairs that RDMA netlink shows: the I/O around nldev_qp.h, synchronous. */
#pragma once

#include "hw.h"
#include "nldev_qp.h"
#include "nlsock.h"

/* Zero-initialised it is empty. */
struct rdma_qp_list {
	struct nldev_qp *items; /* owned */
	size_t n;
	size_t max;	/* more are counted, not kept */
	size_t dropped; /* for want of room */
};

void rdma_qp_list_done(struct rdma_qp_list *);

/* Appends the queue pairs of the devices that the socket's namespace shows; a device that leaves
 * meanwhile has none. Costs a firmware command each, see nldev_qp.h. */
int rdma_qps(struct nlsock *, struct rdma_qp_list *, struct err *);

/* The same of our own namespace and, for the exclusive mode, of these others by name (in the shared
 * mode all show the same); one that cannot be entered, or is gone, is left out. */
int hw_read_qps(const struct hw *, const char (*namespaces)[NETNS_NAME_SIZE], size_t n,
		struct rdma_qp_list *, struct err *);
