/* qps_work.h - what qps.c has done on workers: dumps, and questions whose a process is. For qps.c. */
#pragma once

#include <uv.h>

#include "hw.h"
#include "packet_ports.h"
#include "qp_table.h"
#include "rdma_qps.h"

/* Processes asked for at one time. */
#define QPS_PROCESSES_MAX 1024

struct qps_process {
	uint32_t pid;
	uint64_t cgroup; /* as an event named it, 0 = none did */
};

/* Filled on the loop, worked on by qps_work_run() on a worker, and read on the loop again. */
struct qps_work {
	uv_work_t work; /* its data is the caller's */
	const struct hw *hw;
	bool dump;
	uint64_t begun_ns;
	char (*namespaces)[NETNS_NAME_SIZE]; /* owned; to be asked beside our own */
	size_t n_namespaces;
	struct qps_process processes[QPS_PROCESSES_MAX]; /* each once */
	size_t n_processes;
	struct rdma_qp_list list;
	struct qp_owner *owners; /* owned; sorted by pid; of those that could be asked */
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

/* NULL: out of memory. */
struct qps_work *qps_work_new(const struct hw *);
/* The namespaces in which the exclusive mode may hide devices. -ENOMEM. */
int qps_work_dump(struct qps_work *, const struct host *);
/* A uv_work_cb. */
void qps_work_run(uv_work_t *);
void qps_work_free(struct qps_work *);
