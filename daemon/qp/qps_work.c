// SPDX-License-Identifier: Apache-2.0
#include "qps_work.h"

#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "array.h"
#include "process_owner.h"

void qps_work_free(struct qps_work *w)
{
	free(w->namespaces);
	rdma_qp_list_done(&w->list);
	free(w->owners);
	free(w);
}

static int add_namespace(struct qps_work *w, const char *name)
{
	char(*slot)[NETNS_NAME_SIZE];

	for (size_t i = 0; i < w->n_namespaces; i++)
		if (strcmp(w->namespaces[i], name) == 0)
			return 0;
	slot = array_push(w->namespaces, w->n_namespaces);
	if (!slot)
		return -ENOMEM;
	snprintf(*slot, sizeof(*slot), "%s", name);
	return 0;
}

static int add_namespaces(struct qps_work *w, const struct host *h)
{
	int r = 0;

	for (size_t i = 0; i < h->n_rdma && r == 0 && h->rdma_mode == RDMA_NETNS_EXCLUSIVE; i++) {
		const char *name = host_netns_name(h, h->rdma[i].nsid);

		if (name[0])
			r = add_namespace(w, name);
	}
	return r;
}

struct qps_work *qps_work_new(const struct hw *hw, const struct host *host)
{
	struct qps_work *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->hw = hw;
	w->list.max = QP_TABLE_MAX;
	w->begun_ns = uv_hrtime();
	if (add_namespaces(w, host) == 0)
		return w;
	qps_work_free(w);
	return NULL;
}

/* --- on the worker ---------------------------------------------------------------------------- */

/* Replaces threads by their processes: RDMA netlink reports the thread that created a queue pair
 * (task_pid_vnr() of its task), and all other code uses the process. Queue pairs of one thread are
 * usually adjacent, so the last result is reused. */
static void replace_threads(struct qps_work *w)
{
	uint32_t tid = 0, pid = 0;

	for (size_t i = 0; i < w->list.n; i++) {
		struct nldev_qp *qp = &w->list.items[i];

		if (qp->pid != tid) {
			tid = qp->pid;
			pid = process_of_thread(w->hw->proc_fd, tid);
		}
		qp->pid = pid;
	}
}

static void find_process_owners(struct qps_work *w)
{
	struct process_owner *processes = calloc(w->list.n ? w->list.n : 1, sizeof(*processes));

	for (size_t i = 0; processes && i < w->list.n; i++)
		processes[i].pid = w->list.items[i].pid;
	if (processes)
		w->n_owners = process_owners(w->hw->proc_fd, processes, w->list.n, &w->owners);
	free(processes);
}

void qps_work_run(struct qps_work *w)
{
	w->result = hw_read_qps(w->hw, (const char(*)[NETNS_NAME_SIZE])w->namespaces,
				w->n_namespaces, &w->list, &w->err);
	replace_threads(w);
	find_process_owners(w);
}
