/* SPDX-License-Identifier: Apache-2.0 */
/* qp_failures.h - decides which queue-pair events are failures, and makes rate-limited events of
 * them. Pure; time is an argument.
 *
 * Of each kind of failure (device, pod, reason), the first few events name their queue pairs, then
 * one every QP_FAILURE_PAUSE_MS. All others have the same text, so that the event ring counts them
 * instead of storing each. */
#pragma once

#include "event.h"
#include "qp_table.h"

#define QP_FAILURE_BURST    5
#define QP_FAILURE_PAUSE_MS 10000
/* Maximum number of kinds remembered; the least recent one is replaced. */
#define QP_FAILURE_KINDS    128
#define QP_REASON_SIZE	    32

struct qp_failure_kind {
	char device[RDMA_NAME_SIZE], pod_uid[POD_UID_SIZE], reason[QP_REASON_SIZE];
	unsigned left;	    /* events left that may name their queue pairs */
	uint64_t gained_ms; /* when `left` was last increased */
	uint64_t last_ms;
};

/* Number of failures since the start, for the metrics page. */
struct qp_failure_count {
	char device[RDMA_NAME_SIZE], reason[QP_REASON_SIZE];
	uint64_t n;
};

struct qp_failures {
	struct qp_failure_kind kinds[QP_FAILURE_KINDS];
	size_t n_kinds;
	struct qp_failure_count counts[QP_FAILURE_KINDS]; /* the last element counts all others,
							     with device and reason "other" */
	size_t n_counts;
};

/* True unless it is a consequence of another failure, or an expected change. */
bool qp_failure_is_one(const struct bpf_event_qp_failed *);
/* Was the change not requested by the queue pair's owner, i.e. did the kernel itself move a
 * process's queue pair to ERR? */
bool qp_failure_is_move(const struct qp *, const struct bpf_event_qp *);

/* "RETRY_EXC_ERR", "QP_FATAL", "MOVED_TO_ERR" */
const char *qp_failure_reason(const struct qp *);

/* How a failure is detected. */
enum qp_failure_source {
	QP_FAILS_BY_EVENT,	/* by asynchronous events, of any device */
	QP_FAILS_BY_MOVE,	/* by changes of state, of any device */
	QP_FAILS_BY_COMPLETION, /* by completions, only of soft-RoCE */
	N_QP_FAILURE_SOURCES
};

/* Iterates over all possible reasons, from index 0; NULL past the end. */
const char *qp_failure_known(size_t index, enum qp_failure_source *ret);
/* Counts the failure and makes an event of it: type, reason "QueuePairFailed" and the message; the
 * caller adds pod, device and times. *ret_detailed: the message names the queue pair. */
void qp_failures_report(struct qp_failures *, const struct qp *, uint64_t now_ms, struct event *ret,
			bool *ret_detailed);
