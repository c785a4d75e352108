/* qp_table.h - the queue pairs of the host: from BPF events as they come, and from RDMA netlink's
 * dump where events were lost or cannot be had. Pure; bounded.
 *
 * Events are hints: a dump replaces what the table says of states, and removes what is gone, but
 * for what events have told since the dump began. A queue pair number is given again, and so is a
 * pid: one that is made is another one, whatever stood in its place. */
#pragma once

#include "bpf_event.h"
#include "known_owners.h"
#include "model.h"
#include "nldev.h"

#define QP_TABLE_MAX	 65536
#define QP_UNKNOWN	 UINT32_MAX
/* More destroyed than these while a dump is read, and another dump is worth more. */
#define QP_DESTROYED_MAX 512
/* ib_destroy_qp_user() is heard of as it begins: for this long a dump may still list what it
 * destroys. */
#define QP_DESTROYING_NS UINT64_C(10000000000)

/* Values of the kernel's enums as linux/include/rdma/ib_verbs.h has them. */
enum { QP_STATE_RESET, QP_STATE_ERR = 6 };
enum { QP_TYPE_GSI = 1, QP_TYPE_RC, QP_TYPE_UC, QP_TYPE_UD };
enum { QP_STATUS_FLUSHED = 5 };

struct qp {
	char device[RDMA_NAME_SIZE];
	uint32_t qpn, peer_qpn;	    /* QP_UNKNOWN */
	uint8_t peer_gid[16];	    /* all 0: unknown; IPv4 as ::ffff:a.b.c.d */
	uint32_t type, state;	    /* enum ib_qp_type, ib_qp_state */
	uint32_t port;		    /* 0: unknown */
	uint32_t pid;		    /* 0: the kernel's, or unknown */
	bool kernel;		    /* a kernel user's */
	bool owner_known;	    /* its process has been asked for its pod, or needs not */
	uint64_t cgroup;	    /* 0 = unknown */
	char comm[16];		    /* of a kernel user: what it calls itself, cut */
	char pod_uid[POD_UID_SIZE]; /* "" = not of a pod, or unknown */
	uint32_t path_mtu;	    /* bytes, 0 = unknown */
	int traffic_class, timeout, retry_count, rnr_retry; /* -1 = unknown */
	int flow_label;			 /* -1 = unknown; 0: made of the queue pairs' numbers */
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
	uint64_t dropped; /* not kept because the table is full, or there was no memory */
	struct qp *gone;  /* the last one that was destroyed, owned */
	bool dumping;
	/* The last ones that were destroyed: a ring, owned, NULL: none yet. */
	struct qp_destroyed *destroyed;
	size_t next_destroyed;
	size_t n_destroyed; /* since a dump began */
};

void qp_table_done(struct qp_table *);
/* The queue pair after the event (before it, for one that is destroyed: it is gone with the next
 * change); NULL: of no interest, or no room. The event is a BPF_EVENT_QP that has passed
 * bpf_event_check(). */
const struct qp *qp_table_event(struct qp_table *, const struct bpf_event_qp *);
/* *ret_first: it had not failed before. NULL: it is not known, and is not kept: completions come
 * after the end of their queue pair too, and nothing would take it away again. */
const struct qp *qp_table_failed(struct qp_table *, const struct bpf_event_qp_failed *,
				 bool *ret_first);

/* A dump is about to be asked for: what is destroyed from now on, or was just
 * before, does not come back with it. */
void qp_table_dump_begins(struct qp_table *);
/* What it has told, in any order; begun_ns: when, CLOCK_MONOTONIC. -EAGAIN: too much happened
 * meanwhile, ask for another one; -ENOMEM. Unchanged then. */
int qp_table_replace(struct qp_table *, const struct nldev_qp *, size_t n, uint64_t begun_ns);
/* The same of these devices only, where others could not be read: what is known of those stays. */
int qp_table_replace_some(struct qp_table *, const struct nldev_qp *, size_t n, uint64_t begun_ns,
			  const char (*devices)[RDMA_NAME_SIZE], size_t n_devices);
/* It could not be had. */
void qp_table_dump_failed(struct qp_table *);

/* Gives the owners, sorted by pid, to the queue pairs that have none yet. */
void qp_table_name(struct qp_table *, const struct process_owner *, size_t n);
/* The same for one queue pair. */
void qp_table_name_one(struct qp_table *, const struct qp *, const struct process_owner *);
/* A queue pair of which nothing else is known. */
void qp_init(struct qp *, const char *device, uint32_t qpn);
/* The order of items: as strcmp(). */
int qp_compare(const struct qp *, const char *device, uint32_t qpn);
const struct qp *qp_table_find(const struct qp_table *, const char *device, uint32_t qpn);
/* Its place in items; SIZE_MAX: it is not there. */
size_t qp_table_index(const struct qp_table *, const char *device, uint32_t qpn);
