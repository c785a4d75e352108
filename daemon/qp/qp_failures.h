/* SPDX-License-Identifier: Apache-2.0 */
/* qp_failures.h - decides which events of queue pairs are failures, and creates rate-limited events
 * from them. Pure; time is an argument.
 *
 * For each kind of failure (device, pod, reason), the first few events name their queue pairs, then
 * one event every QP_FAILURE_PAUSE_MS does. All others have the same text, so that the event ring
 * only counts them. */
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

/* True if the event is a failure; false if it is a consequence of another failure, or an expected
 * change. */
bool qp_failure_is_one(const struct bpf_event_qp_failed *);
/* True if the change is a failure: the kernel moved a process's queue pair to ERR, without a
 * request of its owner. */
bool qp_failure_is_move(const struct qp *, const struct bpf_event_qp *);

/* Returns the reason, such as "RETRY_EXC_ERR", "QP_FATAL" or "MOVED_TO_ERR". */
const char *qp_failure_reason(const struct qp *);

/* How a failure is detected. */
enum qp_failure_source {
	QP_FAILS_BY_EVENT,	/* by asynchronous events, of any device */
	QP_FAILS_BY_MOVE,	/* by changes of state, of any device */
	QP_FAILS_BY_COMPLETION, /* by completions, only of soft-RoCE */
	N_QP_FAILURE_SOURCES
};

/* Returns the possible reason with that index, from 0; NULL: there are no more. */
const char *qp_failure_known(size_t index, enum qp_failure_source *ret);
/* Counts the failure and creates an event with type, reason "QueuePairFailed" and message; the
 * caller adds pod, device and times. *ret_detailed: the message names the queue pair. */
void qp_failures_report(struct qp_failures *, const struct qp *, uint64_t now_ms, struct event *ret,
			bool *ret_detailed);
