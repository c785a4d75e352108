#include "qps_work.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "process_owner.h"
#include "worker.h"

struct qps_work *qps_work_new(const struct hw *hw)
{
	struct qps_work *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->hw = hw;
	w->list.max = QP_TABLE_MAX;
	return w;
}

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

int qps_work_dump(struct qps_work *w, const struct host *h)
{
	int r = 0;

	w->dump = true;
	w->begun_ns = uv_hrtime();
	for (size_t i = 0; i < h->n_rdma && r == 0 && h->rdma_mode == RDMA_NETNS_EXCLUSIVE; i++) {
		const char *name = host_netns_name(h, h->rdma[i].nsid);

		if (name[0])
			r = add_namespace(w, name);
	}
	return r;
}

/* --- on the worker ---------------------------------------------------------------------------- */

static int by_pid(const void *a, const void *b)
{
	const struct qps_process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static void ask(struct qps_work *w, const struct qps_process *p)
{
	struct qp_owner *slot, owner;

	if (p->pid == 0 || process_owner(w->hw->proc_fd, p->pid, &owner) < 0)
		return;
	owner.cgroup = p->cgroup;
	slot = array_push(w->owners, w->n_owners);
	if (slot)
		*slot = owner;
}

/* Each once, in order. */
static void ask_all(struct qps_work *w, struct qps_process *processes, size_t n)
{
	qsort(processes, n, sizeof(*processes), by_pid);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || processes[i].pid != processes[i - 1].pid)
			ask(w, &processes[i]);
}

/* RDMA netlink names the thread that made it (task_pid_vnr() of its task), all others its process.
 * What one thread made stands together mostly. */
static void name_processes(struct qps_work *w)
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

static void ask_for_list(struct qps_work *w)
{
	struct qps_process *processes = calloc(w->list.n ? w->list.n : 1, sizeof(*processes));

	for (size_t i = 0; processes && i < w->list.n; i++)
		processes[i].pid = w->list.items[i].pid;
	if (processes)
		ask_all(w, processes, w->list.n);
	free(processes);
}

void qps_work_run(uv_work_t *work)
{
	struct qps_work *w = (struct qps_work *)((char *)work - offsetof(struct qps_work, work));

	worker_begin();
	if (!w->dump) {
		ask_all(w, w->processes, w->n_processes);
		return;
	}
	w->result = hw_read_qps(w->hw, (const char(*)[NETNS_NAME_SIZE])w->namespaces,
				w->n_namespaces, &w->list, &w->err);
	name_processes(w);
	ask_for_list(w);
}

void qps_reading_run(uv_work_t *work)
{
	struct qps_reading *r = (struct qps_reading *)((char *)work -
						       offsetof(struct qps_reading, work));

	worker_begin();
	r->result = packet_view_read(r->view, true, &r->sample);
}
