/* SPDX-License-Identifier: Apache-2.0 */
/* rdma_ops.h - changes RDMA devices over RDMA netlink: synchronous.
 *
 * The socket is a NETLINK_RDMA socket of a namespace in which the device is visible. Wire facts:
 * linux/include/uapi/rdma/rdma_netlink.h; nldev_set_doit(), nldev_newlink(), nldev_dellink() in
 * linux/drivers/infiniband/core/nldev.c. */
#pragma once

#include "hw.h"
#include "nldev.h"
#include "nlsock.h"

/* Finds the device by name. Any process that may rename devices can choose this name. -ENODEV:
 * none. */
int rdma_by_name(struct nlsock *, const char *name, struct nldev_dev *ret, struct err *);
/* Finds the device by index. -ENODEV: not visible in this namespace. */
int rdma_by_index(struct nlsock *, uint32_t index, struct nldev_dev *ret, struct err *);
/* Returns the index of the netdev of the device's first port; 0: none in the socket's namespace. */
int rdma_netdev(struct nlsock *, uint32_t index, int *ret_ifindex, struct err *);
/* Finds the soft-RoCE device on that netdev of the socket's namespace; the kernel allows only one.
 * guess: its likely name, which avoids a query of every device; "" = unknown. -ENODEV: none. */
int rdma_soft_on(struct nlsock *, int ifindex, const char *guess, struct nldev_dev *ret,
		 struct err *);
/* Moves the device to another namespace, in exclusive mode. -EOPNOTSUPP: the driver or the mode
 * does not support it. */
int rdma_move(struct nlsock *, uint32_t index, int netns_fd, struct err *);
int rdma_rename(struct nlsock *, uint32_t index, const char *name, struct err *);
/* Creates a soft-RoCE device on the netdev `ifname` of the socket's namespace. -EEXIST: the netdev
 * has one; -ENFILE: the name is used by a device in any namespace (rxe_newlink() in
 * linux/drivers/infiniband/sw/rxe/rxe.c; assign_name() in linux/drivers/infiniband/core/device.c).
 */
int rdma_make_rxe(struct nlsock *, const char *name, const char *ifname, struct err *);
int rdma_delete(struct nlsock *, uint32_t index, struct err *);
/* Returns the number of contexts that processes have open on the device; their queue pairs and
 * memory may outlive the pod (RES_GET: fill_res_info() in nldev.c). -ENODATA: not reported by the
 * kernel (before 4.20). */
int rdma_contexts(struct nlsock *, uint32_t index, uint64_t *ret, struct err *);
/* True if this kernel's rxe ends contexts when a device is deleted (rxe_disassociate_ucontext() in
 * linux/drivers/infiniband/sw/rxe/rxe_verbs.c, not in 6.12); otherwise the deletion waits for their
 * processes. Determined from the module's type information; false if that cannot be read. */
bool rdma_rxe_ends_contexts(const struct hw *);
/* Gets the name ("uverbs3") and number of the device's uverbs device node. -ENOENT: it has none. */
int rdma_uverbs(struct nlsock *, uint32_t index, struct nldev_chardev *ret, struct err *);
