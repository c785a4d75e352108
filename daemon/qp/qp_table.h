/* SPDX-License-Identifier: Apache-2.0 */
/* qp_table.h - stores the queue pairs of the host, from BPF events, and from RDMA netlink dumps if
 * events were lost or are not available. Pure; of limited size.
 *
 * A dump replaces the states in the table and removes queue pairs that are not in it, except for
 * changes by events since the dump began. Queue pair numbers and pids are reused, so a queue pair
 * in a creation event is new, even if the table has one with its number. */
#pragma once

#include "bpf_event.h"
#include "model.h"
#include "nldev.h"
#include "owners.h"

#define QP_TABLE_MAX	 65536
#define QP_UNKNOWN	 UINT32_MAX
/* Maximum number of destroyed queue pairs remembered during a dump; with more, the dump is
 * repeated. */
#define QP_DESTROYED_MAX 512
/* The BPF event is sent at the start of ib_destroy_qp_user(), so a dump may still contain the queue
 * pair for this time. */
#define QP_DESTROYING_NS UINT64_C(10000000000)

/* Values of the kernel's enums in linux/include/rdma/ib_verbs.h. */
enum { QP_STATE_RESET, QP_STATE_ERR = 6 };
enum { QP_TYPE_GSI = 1, QP_TYPE_RC, QP_TYPE_UC, QP_TYPE_UD };
enum { QP_STATUS_FLUSHED = 5 };

struct qp {
	char device[RDMA_NAME_SIZE];
	uint32_t qpn, peer_qpn;	    /* QP_UNKNOWN if not known */
	uint8_t peer_gid[16];	    /* all 0: unknown; IPv4 as ::ffff:a.b.c.d */
	uint32_t type, state;	    /* enum ib_qp_type, ib_qp_state */
	uint32_t port;		    /* 0: unknown */
	uint32_t pid;		    /* 0: the kernel, or unknown */
	bool kernel;		    /* created by a kernel user */
	bool owner_known;	    /* the process was looked up, or there is none */
	uint64_t cgroup;	    /* 0 = unknown */
	char comm[16];		    /* of a kernel user: its own name, truncated */
	char pod_uid[POD_UID_SIZE]; /* "" = not in a pod, or unknown */
	uint32_t path_mtu;	    /* bytes, 0 = unknown */
	int traffic_class, timeout, retry_count, rnr_retry; /* -1 = unknown */
	int flow_label; /* -1 = unknown; 0: the driver derives one from the queue pairs' numbers */
	uint64_t created_ns, changed_ns; /* CLOCK_MONOTONIC, 0 = unknown */
	bool failed;
	uint32_t failed_status; /* enum ib_wc_status of its first error, 0 = none */
	int failed_event;	/* enum ib_event_type, -1 = none */
};

struct qp_destroyed {
	char device[RDMA_NAME_SIZE]; /* "" = none */
	uint32_t qpn;
	uint64_t time_ns;
};

struct qp_table {
	struct qp **items; /* sorted by (device, qpn), owned */
	size_t n;
	uint64_t generation;
	uint64_t dropped; /* number of queue pairs not stored, because the table was full or memory
			   * ran out */
	struct qp *gone;  /* the last one destroyed, owned */
	bool dumping;
	/* The last destroyed queue pairs: a ring, owned; NULL: none yet. */
	struct qp_destroyed *destroyed;
	size_t next_destroyed;
	size_t n_destroyed; /* since a dump began */
};

void qp_table_done(struct qp_table *);
/* Applies an event of kind BPF_EVENT_QP that has passed bpf_event_check(). Returns the queue pair
 * after the event; for a destroyed one, its last state, valid until the next change. NULL: not
 * relevant, or no room. */
const struct qp *qp_table_event(struct qp_table *, const struct bpf_event_qp *);
/* Records a failure. *ret_first: it had not failed before. NULL: the queue pair is not in the
 * table, and is not added: completions also arrive after its destruction, so it might never be
 * removed. */
const struct qp *qp_table_failed(struct qp_table *, const struct bpf_event_qp_failed *,
				 bool *ret_first);

/* Call before requesting a dump: queue pairs destroyed from now on, or just before, are not added
 * again by it. */
void qp_table_dump_begins(struct qp_table *);
/* Applies a complete dump, in any order; begun_ns: its start, CLOCK_MONOTONIC. -EAGAIN: too many
 * queue pairs were destroyed in the meantime, so another dump is needed; -ENOMEM. After an error
 * the table is unchanged. */
int qp_table_replace(struct qp_table *, const struct nldev_qp *, size_t n, uint64_t begun_ns);
/* As qp_table_replace(), for a dump of these devices only; queue pairs of other devices are
 * kept. */
int qp_table_replace_some(struct qp_table *, const struct nldev_qp *, size_t n, uint64_t begun_ns,
			  const char (*devices)[RDMA_NAME_SIZE], size_t n_devices);
/* Call if the requested dump failed. */
void qp_table_dump_failed(struct qp_table *);

/* Sets the owners, sorted by pid, of queue pairs without an owner. */
void qp_table_name(struct qp_table *, const struct process_owner *, size_t n);
/* Sets the owner of one queue pair. */
void qp_table_name_one(struct qp_table *, const struct qp *, const struct process_owner *);
/* Initialises a queue pair with everything else unknown. */
void qp_init(struct qp *, const char *device, uint32_t qpn);
/* Compares by the order of items, like strcmp(). */
int qp_compare(const struct qp *, const char *device, uint32_t qpn);
const struct qp *qp_table_find(const struct qp_table *, const char *device, uint32_t qpn);
/* Returns the index in items; SIZE_MAX: not found. */
size_t qp_table_index(const struct qp_table *, const char *device, uint32_t qpn);
