/* qps_work.h - what qps.c has done on a worker: a dump, with whose all of it is. For qps.c. */
#pragma once

#include "hw.h"
#include "qp_table.h"
#include "rdma_qps.h"

/* Filled on the loop, worked on by qps_work_run() on a worker, and read on the loop again. */
struct qps_work {
	const struct hw *hw;
	uint64_t begun_ns;
	char (*namespaces)[NETNS_NAME_SIZE]; /* owned; to be asked beside our own */
	size_t n_namespaces;
	struct rdma_qp_list list;
	struct process_owner *owners; /* owned; sorted by pid; of those that could be asked */
	size_t n_owners;
	int result; /* of the dump */
	struct err err;
};

/* Of this host: of the namespaces, too, in which the exclusive mode may hide devices. NULL: out of
 * memory. */
struct qps_work *qps_work_new(const struct hw *, const struct host *);
/* On the worker. */
void qps_work_run(struct qps_work *);
void qps_work_free(struct qps_work *);
