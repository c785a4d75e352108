/* qp_failures.h - which events of queue pairs are failures, what is said of them, and how often.
 * Pure; time is an argument.
 *
 * Of one kind of failure (device, pod, reason) the first few are told with their queue pairs, then
 * one every QP_FAILURE_PAUSE_MS; the others in words that are always the same, so that the event
 * ring counts them instead of keeping them. */
#pragma once

#include "event.h"
#include "qp_table.h"

#define QP_FAILURE_BURST    5
#define QP_FAILURE_PAUSE_MS 10000
/* Kinds remembered at one time; of more the one that is longest quiet is forgotten. */
#define QP_FAILURE_KINDS    128
#define QP_REASON_SIZE	    32

struct qp_failure_kind {
	char device[RDMA_NAME_SIZE], pod_uid[POD_UID_SIZE], reason[QP_REASON_SIZE];
	unsigned left;	    /* to be told with their queue pairs */
	uint64_t gained_ms; /* when the last of these was earned */
	uint64_t last_ms;
};

/* Since the start, for the page. */
struct qp_failure_count {
	char device[RDMA_NAME_SIZE], reason[QP_REASON_SIZE];
	uint64_t n;
};

struct qp_failures {
	struct qp_failure_kind kinds[QP_FAILURE_KINDS];
	size_t n_kinds;
	struct qp_failure_count counts[QP_FAILURE_KINDS]; /* the last one counts all others, device
							     and reason "other" */
	size_t n_counts;
};

/* Not a consequence of another failure, and not a change that is as it should be. */
bool qp_failure_is_one(const struct bpf_event_qp_failed *);
/* The change was not asked for by the queue pair's owner: a process' queue pair that the kernel
 * itself moves to ERR. */
bool qp_failure_is_move(const struct qp *, const struct bpf_event_qp *);

/* "RETRY_EXC_ERR", "QP_FATAL", "MOVED_TO_ERR" */
const char *qp_failure_reason(const struct qp *);

/* Where a failure is seen. */
enum qp_failure_source {
	QP_FAILS_BY_EVENT,	/* asynchronous events, of any device */
	QP_FAILS_BY_MOVE,	/* changes of state, of any device */
	QP_FAILS_BY_COMPLETION, /* completions, of soft-RoCE alone */
	N_QP_FAILURE_SOURCES
};

/* The reasons that there can be, from 0 on; NULL past the end. */
const char *qp_failure_known(size_t index, enum qp_failure_source *ret);
/* Counts it, and what is to be told of it: type, reason "QueuePairFailed" and the message; pod,
 * device and times are the caller's to fill in. *ret_detailed: it names the queue pair. */
void qp_failures_tell(struct qp_failures *, const struct qp *, uint64_t now_ms, struct event *ret,
		      bool *ret_detailed);
