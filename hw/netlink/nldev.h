/* SPDX-License-Identifier: Apache-2.0 */
/* nldev.h - RDMA netlink (client NLDEV): builds requests, decodes answers and events to plain
 * values. Pure.
 *
 * Wire facts: linux/include/uapi/rdma/rdma_netlink.h; linux/drivers/infiniband/core/nldev.c
 * (fill_dev_info, fill_port_info, nldev_sys_get_doit, nldev_get_chardev, rdma_nl_notify_event). A
 * message is the netlink header followed by attributes; there is no family header. */
#pragma once

#include <netlink/msg.h>
#include <rdma/rdma_netlink.h>
#include <stdbool.h>
#include <stdint.h>

#include "model.h"

/* Missing in the headers of some supported build machines (6.1): commands, groups and attributes of
 * rdma_netlink.h in Linux 6.12 and later. */
#define NLDEV_CMD_MONITOR	28
#define NLDEV_GROUP_NOTIFY	4
#define NLDEV_ATTR_EVENT_TYPE	102
#define NLDEV_ATTR_MONITOR_MODE 103
#define NLDEV_ATTR_LAST		103

/* --- requests ----------------------------------------------------------------------------- */

#define NLDEV_ANY UINT32_MAX /* omits the attribute */

/* Builds a request with the command RDMA_NLDEV_CMD_*; flags: NLM_F_DUMP or 0. NULL when out of
 * memory. The caller may append attributes and frees it with nlmsg_free(). */
struct nl_msg *nldev_request(int cmd, int flags, uint32_t dev_index, uint32_t port);

/* Concatenated requests for nlsock_batch(). Zero-initialised it is empty. */
struct nldev_batch {
	uint8_t *buf;
	size_t len, size;
	size_t n;
};

/* Appends a request and frees it in every case; NULL returns -ENOMEM. */
int nldev_batch_add(struct nldev_batch *, struct nl_msg *);
void nldev_batch_done(struct nldev_batch *);

/* --- answers ------------------------------------------------------------------------------ */

/* All decoders: -EPROTO for a message of another command, -EBADMSG for attributes of the wrong size
 * or if the object's identity is missing; outputs are untouched on failure. */

struct nldev_dev {
	uint32_t index;
	char name[RDMA_NAME_SIZE];
	uint32_t n_ports;
	uint64_t node_guid, sys_image_guid; /* 0 = unknown */
	char fw[RDMA_FW_SIZE];
	char protocol[16]; /* "roce", "ib", "iw", "opa", "usnic"; "" = unknown */
	int dim;	   /* adaptive moderation: 0, 1, or -1 = unknown */
};

struct nldev_port {
	uint32_t dev_index, port;
	enum port_state state;
	enum phys_state phys_state;
	int netdev_ifindex; /* 0 = none in the socket's namespace */
	char netdev[IFNAMSIZ];
	bool has_lid; /* InfiniBand only */
	uint32_t lid;
};

int nldev_decode_dev(const struct nlmsghdr *, struct nldev_dev *ret);
int nldev_decode_port(const struct nlmsghdr *, struct nldev_port *ret);
/* Decodes SYS_GET: the netns mode, and whether the kernel sends events (RDMA_NL_GROUP_NOTIFY);
 * ret_monitor may be NULL. */
int nldev_decode_sys(const struct nlmsghdr *, enum rdma_netns_mode *ret, bool *ret_monitor);

struct nldev_chardev {
	char name[32];	    /* below /dev/infiniband */
	uint64_t dev;	    /* dev_t, huge_encode_dev() */
	uint32_t driver_id; /* enum rdma_driver_id, 0 = unknown */
};

int nldev_decode_chardev(const struct nlmsghdr *, struct nldev_chardev *ret);
/* Returns the name of the kernel driver's RDMA id: "mlx5", "rxe"; "" for an unknown id. */
const char *nldev_driver_name(uint32_t driver_id);

/* --- events ------------------------------------------------------------------------------- */

/* enum rdma_nl_notify_event_type, rdma_netlink.h. */
enum nldev_event_type {
	NLDEV_REGISTER,
	NLDEV_UNREGISTER,
	NLDEV_NETDEV_ATTACH,
	NLDEV_NETDEV_DETACH,
	NLDEV_RENAME,
	NLDEV_NETDEV_RENAME,
	NLDEV_EVENT_OTHER, /* not in this list */
};

/* Everything except the type may be missing: then 0 or "". */
struct nldev_event {
	enum nldev_event_type type;
	uint32_t dev_index; /* NLDEV_ANY = missing */
	char name[RDMA_NAME_SIZE];
	uint32_t port;
	int netdev_ifindex;
	char netdev[IFNAMSIZ];
};

int nldev_decode_event(const struct nlmsghdr *, struct nldev_event *ret);

/* --- requests that change devices ------------------------------------------------------------- */

/* Requests; all return NULL when out of memory, else the caller frees with nlmsg_free(). Wire
 * facts: nldev_set_doit(), nldev_newlink(), nldev_dellink() in
 * linux/drivers/infiniband/core/nldev.c. */

struct nl_msg *nldev_move(uint32_t index, int netns_fd);
struct nl_msg *nldev_rename(uint32_t index, const char *name);
/* Creates a software device of that kind ("rxe") on a netdev of the socket's namespace. */
struct nl_msg *nldev_new_link(const char *name, const char *kind, const char *ifname);
struct nl_msg *nldev_delete_link(uint32_t index);
/* Requests the char device of that kind ("uverbs"). */
struct nl_msg *nldev_get_chardev(uint32_t index, const char *kind);

/* --- counters and resources ------------------------------------------------------------------- */

/* Wire facts: linux/drivers/infiniband/core/nldev.c (stat_get_doit_default_counter,
 * nldev_stat_get_counter_status_doit, nldev_stat_set_counter_dynamic_doit, fill_res_info). Requests
 * are nldev_request() with RDMA_NLDEV_CMD_STAT_GET, STAT_GET_STATUS (device, port) and RES_GET
 * (device). */

/* Receives one number of an answer; the name is borrowed for the call. */
typedef void named_value_fn(const char *name, uint64_t value, void *arg);

/* All decoders: -EPROTO for a message of another command, -EBADMSG for malformed attributes;
 * entries before the malformed one were delivered. Otherwise the number of entries. */

/* Decodes STAT_GET of a port: its hw counters, without disabled optional ones. */
int nldev_decode_stat(const struct nlmsghdr *, named_value_fn *, void *arg);
/* Decodes RES_GET: objects in use by kind ("qp", "mr", ...). */
int nldev_decode_resources(const struct nlmsghdr *, named_value_fn *, void *arg);

struct nldev_stat_status {
	const char *name; /* borrowed for the call */
	uint32_t index;	  /* within the port's counters */
	bool optional;
	bool enabled; /* always true for counters that are not optional */
};
typedef void nldev_stat_status_fn(const struct nldev_stat_status *, void *arg);

/* Decodes STAT_GET_STATUS (Linux 5.16 and later). */
int nldev_decode_stat_status(const struct nlmsghdr *, nldev_stat_status_fn *, void *arg);

/* Requests STAT_SET: enables exactly these optional counters, disables the others. NULL when out of
 * memory; the caller frees with nlmsg_free(). */
struct nl_msg *nldev_stat_set(uint32_t dev_index, uint32_t port, const uint32_t *indices, size_t n);

/* --- queue pairs ------------------------------------------------------------------------------ */

/* Wire facts: linux/drivers/infiniband/core/nldev.c (res_get_common_dumpit, fill_res_qp_entry,
 * fill_res_name_pid). A dump covers one device; each of its messages holds some of the queue pairs.
 * Expensive: the kernel queries the device for each queue pair (a firmware command on hardware) and
 * restarts its iteration for every message. */

#define NLDEV_QP_UNKNOWN UINT32_MAX

struct nldev_qp {
	char device[RDMA_NAME_SIZE];
	uint32_t qpn;
	uint32_t peer_qpn; /* NLDEV_QP_UNKNOWN: missing; only RC and UC have one */
	uint32_t port;	   /* 0: missing, as before INIT */
	uint32_t type;	   /* enum ib_qp_type */
	uint32_t state;	   /* enum ib_qp_state */
	uint32_t pid;	/* 0: the kernel's, or a process that is not visible in our PID namespace */
	char owner[32]; /* kernel user ("rpcrdma", "ib_core"), or "" */
};

typedef int nldev_qp_fn(const struct nldev_qp *, void *arg);

/* Requests the queue pairs of a device. NULL when out of memory; the caller frees with
 * nlmsg_free(). */
struct nl_msg *nldev_qp_dump(uint32_t dev_index);
/* Calls fn for every queue pair of the message; a negative return stops the iteration and is
 * returned. -EPROTO: another command; -EBADMSG: malformed attributes (earlier entries were
 * delivered). Otherwise the number of queue pairs. */
int nldev_decode_qps(const struct nlmsghdr *, nldev_qp_fn *, void *arg);
