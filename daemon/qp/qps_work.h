/* qps_work.h - what qps.c has done on workers: dumps, with whose all of it is, and readings of the
 * flows. For qps.c. */
#pragma once

#include <uv.h>

#include "hw.h"
#include "packet_ports.h"
#include "qp_table.h"
#include "rdma_qps.h"

/* Filled on the loop, worked on by qps_work_run() on a worker, and read on the loop again. */
struct qps_work {
	uv_work_t work; /* its data is the caller's */
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

/* The flows, likewise. */
struct qps_reading {
	uv_work_t work;
	struct packet_view *view; /* to be put back */
	struct packet_sample sample;
	int result;
};

/* A uv_work_cb. */
void qps_reading_run(uv_work_t *);

/* Of this host: of the namespaces, too, in which the exclusive mode may hide devices. NULL: out of
 * memory. */
struct qps_work *qps_work_new(const struct hw *, const struct host *);
/* A uv_work_cb. */
void qps_work_run(uv_work_t *);
void qps_work_free(struct qps_work *);
