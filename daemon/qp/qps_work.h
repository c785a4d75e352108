/* SPDX-License-Identifier: Apache-2.0 */
/* qps_work.h - the worker's part of qps.c: a dump, with the owners of its queue pairs. Private to
 * qps.c. */
#pragma once

#include "hw.h"
#include "qp_table.h"
#include "rdma_qps.h"

/* Filled in the loop, processed by qps_work_run() on a worker, then read in the loop. */
struct qps_work {
	const struct hw *hw;
	uint64_t begun_ns;
	char (*namespaces)[NETNS_NAME_SIZE]; /* owned; to be read in addition to our own */
	size_t n_namespaces;
	struct rdma_qp_list list;
	struct process_owner *owners; /* owned; sorted by pid; those that could be looked up */
	size_t n_owners;
	int result; /* of the dump */
	struct err err;
};

/* Prepares a dump, which includes the host's other namespaces if they may have RDMA devices of
 * their own (in exclusive mode). NULL: out of memory. */
struct qps_work *qps_work_new(const struct hw *, const struct host *);
/* Runs the dump, on a worker. */
void qps_work_run(struct qps_work *);
void qps_work_free(struct qps_work *);
