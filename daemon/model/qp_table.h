/* qp_table.h - the queue pairs of the host: from BPF events as they come, and from RDMA netlink's
 * dump where events were lost or cannot be had. Pure; bounded.
 *
 * Events are hints: a dump replaces what the table says of states, and removes what is gone. */
#pragma once

#include "bpf_event.h"
#include "model.h"
#include "sandbox.h"

#define QP_TABLE_MAX 65536

/* One entry of RDMA netlink's RES_QP_GET (drivers/infiniband/core/nldev.c, fill_res_qp_entry). */
struct qp_dump_entry {
	char device[RDMA_NAME_SIZE];
	uint32_t qpn, peer_qpn, port; /* UINT32_MAX: not told */
	uint32_t type, state;	      /* enum ib_qp_type, ib_qp_state */
	uint32_t pid;	/* 0: a kernel user, or a process that cannot be named from here */
	char owner[32]; /* the kernel user's name, or "" */
};

struct qp {
	char device[RDMA_NAME_SIZE];
	uint32_t qpn, peer_qpn; /* UINT32_MAX: unknown */
	uint8_t peer_gid[16];	/* all 0: unknown */
	uint32_t type, state, port;
	uint32_t pid;
	uint64_t cgroup;
	char comm[16];
	char pod_uid[POD_UID_SIZE], namespace[64], pod[256]; /* "" = not of a pod, or unknown */
	uint32_t path_mtu;				     /* bytes, 0 = unknown */
	int traffic_class, timeout, retry_count, rnr_retry;  /* -1 = unknown */
	uint64_t created_ns, changed_ns;		     /* CLOCK_MONOTONIC, 0 = unknown */
	uint32_t failed_status; /* enum ib_wc_status of its first error, 0 = none */
	int failed_event;	/* enum ib_event_type, -1 = none */
};

struct qp_table {
	struct qp *items; /* sorted by (device, qpn), owned */
	size_t n, cap;
	uint64_t generation, dropped; /* dropped: not kept because the table is full */
};

void qp_table_done(struct qp_table *);
/* The queue pair after the event (before it, for one that is destroyed: it is gone with the next
 * change); NULL: out of memory, full, or of no interest. The event must have passed
 * bpf_event_check(). */
const struct qp *qp_table_event(struct qp_table *, const struct bpf_event *);
/* The whole truth of now; entries sorted or not. */
int qp_table_replace(struct qp_table *, const struct qp_dump_entry *, size_t n);
/* Whose it is. */
void qp_table_name(struct qp_table *, const char *device, uint32_t qpn, const char *pod_uid,
		   const struct sandbox_list *);
const struct qp *qp_table_find(const struct qp_table *, const char *device, uint32_t qpn);

/* The uid of the pod in a line of /proc/PID/cgroup or a cgroup path, as the kubelet names its
 * cgroups (cgroupfs and systemd drivers); false: of no pod. */
bool cgroup_pod_uid(const char *path, size_t len, char ret[POD_UID_SIZE]);

const char *qp_type_name(uint32_t type);   /* "RC", "UD", ... */
const char *qp_state_name(uint32_t state); /* "RTS", ... */
const char *
wc_status_name(uint32_t status); /* "RETRY_EXC_ERR", ... as linux/include/rdma/ib_verbs.h */
const char *
wc_status_meaning(uint32_t status); /* a sentence for an SRE: "the peer does not answer: ..." */
const char *ib_event_name(int event);
