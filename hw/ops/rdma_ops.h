/* rdma_ops.h - changes of RDMA devices over RDMA netlink: synchronous.
 *
 * The socket is NETLINK_RDMA of the namespace in which the device is seen. Wire facts:
 * linux/include/uapi/rdma/rdma_netlink.h; nldev_set_doit(), nldev_newlink(), nldev_dellink() in
 * linux/drivers/infiniband/core/nldev.c. */
#pragma once

#include "hw.h"
#include "nldev.h"
#include "nlsock.h"

/* The device of that name: whoever may rename devices chooses it. -ENODEV: none. */
int rdma_by_name(struct nlsock *, const char *name, struct nldev_dev *ret, struct err *);
/* The device with that index. -ENODEV: none that this namespace shows. */
int rdma_by_index(struct nlsock *, uint32_t index, struct nldev_dev *ret, struct err *);
/* The index of the netdev below its first port; 0: it has none in the socket's namespace. */
int rdma_netdev(struct nlsock *, uint32_t index, int *ret_ifindex, struct err *);
/* The soft-RoCE device on that netdev of the socket's namespace; the kernel makes one at most.
 * guess: the name that it probably has, which saves a question to every device; "" = none.
 * -ENODEV: there is none. */
int rdma_soft_on(struct nlsock *, int ifindex, const char *guess, struct nldev_dev *ret,
		 struct err *);
/* Moves it (exclusive mode; -EOPNOTSUPP: the driver or the mode cannot). */
int rdma_move(struct nlsock *, uint32_t index, int netns_fd, struct err *);
int rdma_rename(struct nlsock *, uint32_t index, const char *name, struct err *);
/* A soft-RoCE device on the netdev `ifname` of the socket's own namespace. -EEXIST: the netdev has
 * one; -ENFILE: the name is taken, by a device of whichever namespace (rxe_newlink() in
 * linux/drivers/infiniband/sw/rxe/rxe.c; assign_name() in linux/drivers/infiniband/core/device.c).
 */
int rdma_make_rxe(struct nlsock *, const char *name, const char *ifname, struct err *);
int rdma_delete(struct nlsock *, uint32_t index, struct err *);
/* How many contexts processes have open on it: of each, queue pairs and memory live on whatever
 * becomes of its pod (RES_GET: fill_res_info() in nldev.c). -ENODATA: the kernel does not tell
 * (before 4.20). */
int rdma_contexts(struct nlsock *, uint32_t index, uint64_t *ret, struct err *);
/* Does this kernel's rxe end contexts when a device is deleted (rxe_disassociate_ucontext() in
 * linux/drivers/infiniband/sw/rxe/rxe_verbs.c, not in 6.12)? Otherwise that waits for their
 * processes. By the module's type information; false where that cannot be read. */
bool rdma_rxe_ends_contexts(const struct hw *);
/* Of the device's char devices: "uverbs3" and its number. -ENOENT: it has none. */
int rdma_uverbs(struct nlsock *, uint32_t index, struct nldev_chardev *ret, struct err *);
