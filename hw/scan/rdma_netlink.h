/* rdma_netlink.h - RDMA devices from RDMA netlink: the I/O around nldev.h. */
#pragma once

#include "hw.h"
#include "nldev.h"
#include "nlsock.h"

/* *ret is RDMA_NETNS_UNKNOWN where the kernel is too old to say (before 5.2). */
int rdma_netlink_mode(struct nlsock *, enum rdma_netns_mode *ret, struct err *);

/* The devices that the socket's namespace shows; the caller frees them. */
struct rdma_netlink_list {
	struct nldev_dev *items;
	size_t n;
};
int rdma_netlink_list(struct nlsock *, struct rdma_netlink_list *ret, struct err *);

/* Appends the devices that the socket's namespace shows and `h` does not hold yet (by index), with
 * their ports' states and netdevs; both get the nsid. */
int rdma_netlink_devices(struct nlsock *, int nsid, struct host *h, struct err *);

/* Asks the socket's namespace for the netdevs of the ports that have none yet, of devices that are
 * virtual. A netdev that is found gets the nsid. */
int rdma_netlink_netdevs(struct nlsock *, int nsid, struct host *h);

/* Fills in the drivers of those of the devices that have a uverbs device: the kernel's own id for
 * the driver, where it tells. Devices without one are not asked about, because the question makes
 * the kernel load modules. */
int rdma_netlink_drivers(struct nlsock *, struct host *h);
