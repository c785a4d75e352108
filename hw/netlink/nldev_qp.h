/* nldev_qp.h - RDMA netlink's queue pairs: the request and its answers. Pure.
 *
 * Wire facts: linux/drivers/infiniband/core/nldev.c (res_get_common_dumpit, fill_res_qp_entry,
 * fill_res_name_pid). A dump is of one device; each of its messages holds some of the queue pairs.
 * The kernel asks the device for each of them (a firmware command on hardware) and begins at the
 * first one for every message: nothing to be done often. */
#pragma once

#include <netlink/msg.h>

#include "model.h"

#define NLDEV_QP_UNKNOWN UINT32_MAX

struct nldev_qp {
	char device[RDMA_NAME_SIZE];
	uint32_t qpn;
	uint32_t peer_qpn; /* NLDEV_QP_UNKNOWN: not told; only RC and UC have one */
	uint32_t port;	   /* 0: not told, it has none before INIT */
	uint32_t type;	   /* enum ib_qp_type */
	uint32_t state;	   /* enum ib_qp_state */
	uint32_t pid;	   /* 0: the kernel's, or a process that cannot be named from here */
	char owner[32];	   /* the kernel's user of it ("rpcrdma", "ib_core"), or "" */
};

typedef int nldev_qp_fn(const struct nldev_qp *, void *arg);

/* NULL when out of memory; the caller frees with nlmsg_free(). */
struct nl_msg *nldev_qp_dump(uint32_t dev_index);
/* Calls fn for every queue pair of the message; a negative return ends the walk and is returned.
 * -EPROTO: another command; -EBADMSG: attributes of the wrong form (what came before was
 * delivered). Otherwise how many there were. */
int nldev_decode_qps(const struct nlmsghdr *, nldev_qp_fn *, void *arg);
