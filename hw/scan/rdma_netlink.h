/* SPDX-License-Identifier: Apache-2.0 */
/* rdma_netlink.h - reads RDMA devices over RDMA netlink: the I/O for nldev.h. */
#pragma once

#include "hw.h"
#include "nldev.h"
#include "nlsock.h"

/* Gets the netns mode. *ret is RDMA_NETNS_UNKNOWN if the kernel does not report it (before 5.2). */
int rdma_netlink_mode(struct nlsock *, enum rdma_netns_mode *ret, struct err *);

/* Appends the devices visible in the socket's namespace that `h` does not have yet (by index), with
 * their ports' states and netdevs. Devices and netdevs get the nsid. */
int rdma_netlink_devices(struct nlsock *, int nsid, struct host *h, struct err *);

/* Queries the socket's namespace for the netdevs of ports without one, of virtual devices only. A
 * netdev found gets the nsid. */
int rdma_netlink_netdevs(struct nlsock *, int nsid, struct host *h);

/* Fills in the drivers of the devices that have a uverbs device: the kernel's driver id, if
 * reported. Devices without one are skipped, because the request makes the kernel load modules. */
int rdma_netlink_drivers(struct nlsock *, struct host *h);
