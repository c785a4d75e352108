/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* vmlinux.h - the kernel types that our BPF programs read, and of each only the fields they read.
 *
 * Kept by hand. With preserve_access_index only the names matter: libbpf finds the real offsets in
 * the running kernel's BTF, and wants fields to be of the same kind there (an enum of this name, an
 * integer of any width). Each part says who uses it. */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

#include <linux/types.h>
#include <stdbool.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* --- common.bpf.h ----------------------------------------------------------------------------- */

struct task_struct {
	unsigned int flags;
	struct nsproxy *nsproxy; /* netdev_inside.bpf.c */
};

/* kprobe arguments: the registers of the first parameters and of the return value */
#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long di, si, dx, cx, r8, ax;
};
#elif defined(__TARGET_ARCH_arm64)
struct user_pt_regs {
	__u64 regs[31];
};
#endif

/* --- host_events.bpf.c ------------------------------------------------------------------------ */

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
	struct hlist_head *dev_index_head; /* netdev_inside.bpf.c */
};

/* dev->nd_net holds the namespace the device is in */
typedef struct {
	struct net *net;
} possible_net_t;

struct list_head {
	struct list_head *next;
};

struct hlist_node {
	struct hlist_node *next;
};

struct hlist_head {
	struct hlist_node *first;
};

struct rtnl_link_ops {
	const char *kind;
};

struct kernfs_node {
	__u64 id; /* netdev_inside.bpf.c */
};

/* host_events.bpf.c again */
struct bus_type {
	const char *name;
};

struct device_driver {
	const char *name;
};

struct kobject {
	const char *name;
	struct kernfs_node *sd; /* netdev_inside.bpf.c */
};

struct device {
	struct kobject kobj;
	struct device *parent;
	const char *init_name;
	const struct bus_type *bus;
	struct device_driver *driver;
};

struct net_device {
	char name[16];
	int ifindex;
	possible_net_t nd_net;
	struct device dev;
	/* netdev_inside.bpf.c */
	const struct rtnl_link_ops *rtnl_link_ops;
	struct {
		struct list_head upper;
	} adj_list;
	struct hlist_node index_hlist;
	struct list_head napi_list;
	struct napi_config *napi_config; /* num_napi_configs of them */
	unsigned int num_napi_configs, napi_defer_hard_irqs;
	unsigned long gro_flush_timeout;
	unsigned char threaded : 1;
};

/* --- netdev_inside.bpf.c ---------------------------------------------------------------------- */

struct nsproxy {
	struct net *net_ns;
};

struct netdev_adjacent {
	struct net_device *dev;
	struct list_head list;
};

struct napi_struct {
	struct list_head dev_list;
	struct task_struct *thread;
	unsigned long gro_flush_timeout, irq_suspend_timeout;
	unsigned int defer_hard_irqs;
};

struct napi_config {
	unsigned long gro_flush_timeout, irq_suspend_timeout;
	unsigned int defer_hard_irqs;
	unsigned char threaded;
};

/* --- host_events.bpf.c again ------------------------------------------------------------------ */

struct devlink {
	struct device *dev;
};

struct nlattr {
	__u16 nla_len, nla_type;
};

struct dcb_app {
	__u8 selector, priority;
	__u16 protocol;
};

/* --- rdma_events.bpf.c, cm_events.bpf.c, rxe_events.bpf.c ------------------------------------- */

enum rdma_restrack_type { RDMA_RESTRACK_QP = 2 };
enum ib_qp_type { IB_QPT_RC = 2 };
enum ib_qp_state { IB_QPS_RESET };
enum ib_mtu { IB_MTU_256 = 1 };
enum ib_event_type { IB_EVENT_CQ_ERR };
enum ib_wc_status { IB_WC_SUCCESS };
enum rdma_cm_event_type { RDMA_CM_EVENT_ADDR_RESOLVED };

struct ib_device {
	char name[64];
	__u32 index;
};

struct rdma_restrack_entry {
	bool user;
	enum rdma_restrack_type type;
};

struct ib_qp {
	struct ib_device *device;
	struct ib_qp *real_qp;
	__u32 qp_num;
	enum ib_qp_type qp_type;
	__u32 port;
	struct rdma_restrack_entry res;
};

union ib_gid {
	__u8 raw[16];
};

struct ib_global_route {
	union ib_gid dgid;
	__u32 flow_label;
	__u8 sgid_index, hop_limit, traffic_class;
};

struct rdma_ah_attr {
	struct ib_global_route grh;
	__u8 sl;
	__u32 port_num;
};

struct ib_qp_attr {
	enum ib_qp_state qp_state;
	enum ib_mtu path_mtu;
	__u32 dest_qp_num;
	struct rdma_ah_attr ah_attr;
	__u32 port_num;
	__u8 timeout, retry_cnt, rnr_retry;
};

struct ib_event {
	struct ib_device *device;
	union {
		struct ib_qp *qp;
		__u32 port_num;
	} element;
	enum ib_event_type event;
};

struct ib_cq {
	struct ib_device *device;
};

struct ib_wc {
	enum ib_wc_status status;
	__u32 vendor_err;
	struct ib_qp *qp;
};

/* of the uverbs ABI, include/uapi/rdma/ib_user_verbs.h */
struct ib_uverbs_wc {
	__u32 status, vendor_err, qp_num;
};

struct rxe_cq {
	struct ib_cq ibcq;
	bool is_user;
};

struct rxe_cqe {
	union {
		struct ib_wc ibwc;
		struct ib_uverbs_wc uibwc;
	};
};

struct timer_list {
	unsigned long expires;
};

struct rxe_qp {
	struct ib_qp ibqp;
	struct ib_qp_attr attr;
	struct timer_list retrans_timer, rnr_nak_timer;
};

struct rxe_dev {
	struct ib_device ib_dev;
};

struct rxe_pkt_info {
	struct rxe_dev *rxe;
};

/* a sockaddr of either family, of its storage only what they use */
struct cm_sockaddr {
	__u8 bytes[28];
};

struct rdma_addr {
	struct cm_sockaddr src_addr, dst_addr;
};

struct rdma_route {
	struct rdma_addr addr;
};

struct rdma_cm_id {
	struct rdma_route route;
};

struct rdma_id_private {
	struct rdma_cm_id id;
	__u32 qp_num;
};

struct rdma_cm_event {
	enum rdma_cm_event_type event;
	int status;
};

#pragma clang attribute pop

#endif
