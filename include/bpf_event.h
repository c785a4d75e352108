/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpf_event.h - the events that BPF programs send to the daemon: an ABI between bpf/ and daemon/,
 * checked by version, kind and size.
 *
 * Every event begins with the same head; strings are terminated; IBTA numbers are the kernel's. */
#pragma once

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define BPF_EVENT_VERSION 3

enum bpf_event_kind {
	BPF_EVENT_NETDEV_MOVED = 1, /* a netdev's move to another namespace was requested */
	BPF_EVENT_QP,		    /* a queue pair was created, modified or destroyed */
	BPF_EVENT_QP_FAILED, /* a completion with an error, or an asynchronous error of a queue pair
			      */
	BPF_EVENT_PORT,	     /* an asynchronous event of a device or port (ib_dispatch_event) */
	BPF_EVENT_CM,	     /* a connection was established, rejected or timed out */
	BPF_EVENT_HEALTH,    /* devlink health: a reporter reported an error or aborted recovery */
	BPF_EVENT_DCB,	     /* PFC, ETS or DSCP settings were changed */
	BPF_EVENT_TX_TIMEOUT, /* a transmit queue hung and the driver must reset it */
	N_BPF_EVENT_KINDS
};

struct bpf_event {
	__u16 version, kind;
	__u32 size;    /* size of the whole event */
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u64 cgroup;  /* id of the task's cgroup; 0 = not from a task */
	__u32 pid;     /* requesting process, in the initial pid namespace; 0 = the kernel itself */
	char comm[16];
	__u32 reserved;
};

struct bpf_event_netdev_moved {
	struct bpf_event head;
	__u32 ifindex;	  /* before the move */
	__u32 netns_from; /* namespace inode numbers */
	__u32 netns_to;
	char name[16]; /* the netdev's name before the move */
	__u32 reserved;
};

enum bpf_qp_change { BPF_QP_CREATED, BPF_QP_MODIFIED, BPF_QP_DESTROYED, N_BPF_QP_CHANGES };

/* attr_mask has the bits of enum ib_qp_attr_mask that matter here (linux/include/rdma/ib_verbs.h).
 * A field is valid only if its bit is set. */
struct bpf_event_qp {
	struct bpf_event head;
	char device[64];
	__u32 change;	 /* enum bpf_qp_change */
	__u32 qpn, type; /* enum ib_qp_type */
	__u32 attr_mask;
	__u32 state; /* new state, enum ib_qp_state */
	__u32 peer_qpn;
	__u8 peer_gid[16];
	__u8 path_mtu; /* enum ib_mtu */
	__u8 traffic_class, hop_limit, service_level, sgid_index, port;
	__u8 timeout, retry_count, rnr_retry;
	__u8 kernel; /* created by a kernel user */
	__u16 reserved;
	__s32 result;	  /* return value of the call: 0 or a negative errno */
	__u32 flow_label; /* 0: the driver derives one from the queue pair numbers */
	__u32 reserved2;
};

struct bpf_event_qp_failed {
	struct bpf_event head;
	char device[64];
	__u32 qpn;
	__u32 status; /* enum ib_wc_status; 0: not a completion, see event */
	__u32 vendor_error;
	__s32 event; /* enum ib_event_type of an asynchronous event, -1: none */
};

struct bpf_event_port {
	struct bpf_event head;
	char device[64];
	__u32 index; /* nldev device index; ~0: unknown */
	__u32 event; /* enum ib_event_type */
	__u32 port;  /* 0: the whole device */
};

enum bpf_cm_what { BPF_CM_CONNECTED, BPF_CM_REJECTED, BPF_CM_TIMED_OUT, BPF_CM_OTHER, N_BPF_CM };

struct bpf_event_cm {
	struct bpf_event head;
	__u32 what, event; /* enum bpf_cm_what, enum rdma_cm_event_type */
	__s32 status;	   /* reject: the reason (enum ib_cm_rej_reason); else a negative errno */
	__u32 qpn;
	__u64 latency_ns;	   /* since the connection request; 0 = unknown */
	__u8 saddr[16], daddr[16]; /* IPv4 as ::ffff:a.b.c.d */
	__u16 sport, dport;
	__u32 passive; /* 1: this side received the connection request */
};

struct bpf_event_health {
	struct bpf_event head;
	char bus[16], device[64], driver[32], reporter[32];
	char message[128]; /* may be truncated */
	__u32 aborted;	   /* recovery was aborted */
	__u32 reserved;
};

enum bpf_dcb_what {
	BPF_DCB_PFC,
	BPF_DCB_ETS,
	BPF_DCB_APP_SET,
	BPF_DCB_APP_DELETED,
	BPF_DCB_OTHER,
	N_BPF_DCB
};

struct bpf_event_dcb {
	struct bpf_event head;
	__u32 ifindex, what; /* enum bpf_dcb_what */
	char name[16];
	__u8 pfc_enable;	 /* PFC: mask of priorities */
	__u8 selector, priority; /* APP: IEEE selector, 5 = DSCP */
	__u8 reserved;
	__u16 protocol; /* APP: with selector 5 the DSCP */
	__u16 reserved2;
};

/* The netdev may be in any network namespace. */
struct bpf_event_tx_timeout {
	struct bpf_event head;
	char device[64]; /* the netdev's bus device, as in a health event; "" = none */
	char name[16], driver[32];
	__u32 ifindex, queue;
};

/* --- other maps than the ring buffer; created by the daemon, they outlive the programs -------- */

/* Index of the array map "losses". */
enum bpf_loss {
	BPF_LOST,	/* the ring was full: consumers of events must rescan */
	BPF_SUPPRESSED, /* failed completions beyond BPF_FAILURES_PER_SECOND */
	N_BPF_LOSSES
};
#define BPF_FAILURES_PER_SECOND 256

/* Events for which soft-RoCE has no counters, or counts only the final failure. */
enum bpf_soft_kind { BPF_SOFT_RETRANSMIT_TIMEOUT, BPF_SOFT_RNR_TIMEOUT, BPF_SOFT_ICRC, N_BPF_SOFT };

#define BPF_SOFT_DEVICES_MAX 1024

/* Key of the hash map "soft_counts": the RDMA device's name. */
struct bpf_soft_key {
	char device[64];
};
struct bpf_soft_counts {
	__u64 n[N_BPF_SOFT];
};

struct bpf_soft_device {
	struct bpf_soft_key key;
	struct bpf_soft_counts counts;
};
