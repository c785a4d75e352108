// SPDX-License-Identifier: Apache-2.0
/* qp_table.c - see qp_table.h. The table is a sorted array of pointers, so that inserting and
 * removing moves only pointers. A dump is sorted, too, and merged with the table into a new array.
 */
#include "qp_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

/* enum ib_qp_attr_mask, linux/include/rdma/ib_verbs.h */
enum {
	HAS_STATE = 1 << 0,
	HAS_PORT = 1 << 5,
	HAS_AV = 1 << 7, /* address vector: GID, traffic class */
	HAS_PATH_MTU = 1 << 8,
	HAS_TIMEOUT = 1 << 9,
	HAS_RETRY_COUNT = 1 << 10,
	HAS_RNR_RETRY = 1 << 11,
	HAS_PEER = 1 << 20,
};

/* linux/include/rdma/ib_verbs.h, IB_GRH_FLOWLABEL_MASK */
#define FLOW_LABEL_MASK 0xfffff

/* --- items ------------------------------------------------------------------------------------ */

int qp_compare(const struct qp *qp, const char *device, uint32_t qpn)
{
	int r = strcmp(qp->device, device);

	return r ? r : (qp->qpn > qpn) - (qp->qpn < qpn);
}

/* Returns the index of the first queue pair that is not less. */
static size_t qp_place_of(const struct qp_table *t, const char *device, uint32_t qpn)
{
	return lower_bound(t->n, i, qp_compare(t->items[i], device, qpn) < 0);
}

/* Returns the queue pair at that index if it has this device and number, or NULL. */
static struct qp *qp_at(const struct qp_table *t, size_t place, const char *device, uint32_t qpn)
{
	return place < t->n && qp_compare(t->items[place], device, qpn) == 0 ? t->items[place]
									     : NULL;
}

static struct qp *find_qp(const struct qp_table *t, const char *device, uint32_t qpn)
{
	return qp_at(t, qp_place_of(t, device, qpn), device, qpn);
}

const struct qp *qp_table_find(const struct qp_table *t, const char *device, uint32_t qpn)
{
	return find_qp(t, device, qpn);
}

size_t qp_table_index(const struct qp_table *t, const char *device, uint32_t qpn)
{
	size_t place = qp_place_of(t, device, qpn);

	return qp_at(t, place, device, qpn) ? place : SIZE_MAX;
}

void qp_init(struct qp *qp, const char *device, uint32_t qpn)
{
	*qp = (struct qp){
		.qpn = qpn,
		.peer_qpn = QP_UNKNOWN,
		.traffic_class = -1,
		.flow_label = -1,
		.timeout = -1,
		.retry_count = -1,
		.rnr_retry = -1,
		.failed_event = -1,
	};
	snprintf(qp->device, sizeof(qp->device), "%s", device);
}

static struct qp *insert_qp(struct qp_table *t, size_t place, const char *device, uint32_t qpn)
{
	struct qp *qp = t->n < QP_TABLE_MAX ? malloc(sizeof(*qp)) : NULL;
	struct qp **items = qp ? array_room(t->items, t->n, sizeof(struct qp *)) : NULL;

	if (!items) {
		free(qp);
		t->dropped++;
		return NULL;
	}
	t->items = items;
	memmove(&items[place + 1], &items[place], (t->n++ - place) * sizeof(struct qp *));
	items[place] = qp;
	qp_init(qp, device, qpn);
	return qp;
}

static struct qp *find_or_insert_qp(struct qp_table *t, const char *device, uint32_t qpn,
				    bool *ret_new)
{
	size_t place = qp_place_of(t, device, qpn);
	struct qp *qp = qp_at(t, place, device, qpn);

	*ret_new = !qp;
	return qp ? qp : insert_qp(t, place, device, qpn);
}

void qp_table_done(struct qp_table *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->items[i]);
	free(t->items);
	free(t->gone);
	free(t->destroyed);
	*t = (struct qp_table){0};
}

/* --- events ----------------------------------------------------------------------------------- */

static void qp_set_creator(struct qp *qp, const struct bpf_event *head, bool kernel)
{
	qp->pid = kernel ? 0 : head->pid;
	qp->kernel = kernel;
	qp->owner_known = kernel;
	qp->cgroup = kernel ? 0 : head->cgroup;
	memcpy(qp->comm, head->comm, sizeof(qp->comm));
}

/* Converts enum ib_mtu. */
static uint32_t qp_mtu_bytes(uint8_t mtu)
{
	return mtu >= 1 && mtu <= 5 ? 128u << mtu : 0;
}

static void qp_set_state(struct qp *qp, uint32_t state)
{
	if (state == QP_STATE_RESET) { /* its previous connection has ended */
		qp->peer_qpn = QP_UNKNOWN;
		memset(qp->peer_gid, 0, sizeof(qp->peer_gid));
		qp->failed = false;
		qp->failed_status = 0;
		qp->failed_event = -1;
	}
	qp->state = state;
}

static void qp_set_attributes(struct qp *qp, const struct bpf_event_qp *e)
{
	if (e->attr_mask & HAS_STATE)
		qp_set_state(qp, e->state);
	if (e->attr_mask & HAS_PEER)
		qp->peer_qpn = e->peer_qpn;
	if (e->attr_mask & HAS_AV) {
		memcpy(qp->peer_gid, e->peer_gid, sizeof(qp->peer_gid));
		qp->traffic_class = e->traffic_class;
		qp->flow_label = (int)(e->flow_label & FLOW_LABEL_MASK);
	}
	if (e->attr_mask & HAS_PORT)
		qp->port = e->port;
	if (e->attr_mask & HAS_PATH_MTU)
		qp->path_mtu = qp_mtu_bytes(e->path_mtu);
	if (e->attr_mask & HAS_TIMEOUT)
		qp->timeout = e->timeout;
	if (e->attr_mask & HAS_RETRY_COUNT)
		qp->retry_count = e->retry_count;
	if (e->attr_mask & HAS_RNR_RETRY)
		qp->rnr_retry = e->rnr_retry;
}

static void remember_destroyed(struct qp_table *t, const struct bpf_event_qp *e)
{
	struct qp_destroyed *d;

	if (!t->destroyed)
		t->destroyed = calloc(QP_DESTROYED_MAX, sizeof(*t->destroyed));
	if (!t->destroyed) {
		t->n_destroyed = QP_DESTROYED_MAX + 1; /* so that the dump is repeated */
		return;
	}
	t->n_destroyed++;
	d = &t->destroyed[t->next_destroyed++ % QP_DESTROYED_MAX];
	snprintf(d->device, sizeof(d->device), "%s", e->device);
	d->qpn = e->qpn;
	d->time_ns = e->head.time_ns;
}

static const struct qp *qp_table_remove(struct qp_table *t, const struct bpf_event_qp *e)
{
	size_t place = qp_place_of(t, e->device, e->qpn);
	struct qp *qp = qp_at(t, place, e->device, e->qpn);

	remember_destroyed(t, e);
	if (!qp)
		return NULL;
	memmove(&t->items[place], &t->items[place + 1], (t->n - place - 1) * sizeof(struct qp *));
	t->n--;
	free(t->gone);
	t->gone = qp;
	return qp;
}

/* Applies a creation or a change. If the first event of a queue pair is a change, it was created
 * before our programs were loaded. */
static const struct qp *apply_change(struct qp_table *t, const struct bpf_event_qp *e)
{
	bool is_created = e->change == BPF_QP_CREATED, is_new;
	struct qp *qp = find_or_insert_qp(t, e->device, e->qpn, &is_new);

	if (!qp)
		return NULL;
	if (is_created)
		qp_init(qp, e->device, e->qpn);
	if (is_created || is_new) {
		qp_set_creator(qp, &e->head, e->kernel);
		qp->type = e->type;
	}
	if (is_created)
		qp->created_ns = e->head.time_ns;
	qp->changed_ns = e->head.time_ns;
	qp_set_attributes(qp, e);
	return qp;
}

const struct qp *qp_table_event(struct qp_table *t, const struct bpf_event_qp *e)
{
	const struct qp *qp;

	if (e->result < 0)
		return NULL; /* the operation failed, so nothing has changed */
	qp = e->change == BPF_QP_DESTROYED ? qp_table_remove(t, e) : apply_change(t, e);
	t->generation += qp != NULL;
	return qp;
}

const struct qp *qp_table_failed(struct qp_table *t, const struct bpf_event_qp_failed *e,
				 bool *ret_first)
{
	struct qp *qp = find_qp(t, e->device, e->qpn);

	if (!qp)
		return NULL;
	*ret_first = !qp->failed;
	if (!qp->failed) {
		qp->failed = true;
		qp->failed_status = e->status;
		qp->failed_event = e->event;
	}
	qp->changed_ns = e->head.time_ns;
	t->generation++;
	return qp;
}

/* --- owners ----------------------------------------------------------------------------------- */

static int qp_by_pid(const void *pid, const void *owner)
{
	uint32_t wanted = *(const uint32_t *)pid,
		 other = ((const struct process_owner *)owner)->pid;

	return (wanted > other) - (wanted < other);
}

static void qp_set_owner(struct qp_table *t, struct qp *qp, const struct process_owner *o)
{
	qp->owner_known = true;
	memcpy(qp->pod_uid, o->pod_uid, sizeof(qp->pod_uid));
	if (!qp->comm[0])
		memcpy(qp->comm, o->comm, sizeof(qp->comm));
	t->generation++;
}

void qp_table_name(struct qp_table *t, const struct process_owner *owners, size_t n)
{
	const struct process_owner *o;

	for (size_t i = 0; i < t->n && n > 0; i++) {
		if (t->items[i]->owner_known)
			continue;
		o = bsearch(&t->items[i]->pid, owners, n, sizeof(*owners), qp_by_pid);
		if (o)
			qp_set_owner(t, t->items[i], o);
	}
}

void qp_table_name_one(struct qp_table *t, const struct qp *qp, const struct process_owner *o)
{
	struct qp *own = find_qp(t, qp->device, qp->qpn);

	if (own)
		qp_set_owner(t, own, o);
}

/* --- dumps ----------------------------------------------------------------------------------- */

void qp_table_dump_begins(struct qp_table *t)
{
	t->dumping = true;
	t->n_destroyed = 0;
}

void qp_table_dump_failed(struct qp_table *t)
{
	t->dumping = false;
}

static int by_device_and_number(const void *a, const void *b)
{
	const struct nldev_qp *const *x = a, *const *y = b;
	int r = strcmp((*x)->device, (*y)->device);

	return r ? r : ((*x)->qpn > (*y)->qpn) - ((*x)->qpn < (*y)->qpn);
}

static const struct nldev_qp **sort_entries(const struct nldev_qp *entries, size_t n)
{
	const struct nldev_qp **list = malloc((n ? n : 1) * sizeof(const struct nldev_qp *));

	for (size_t i = 0; list && i < n; i++)
		list[i] = &entries[i];
	if (list)
		qsort(list, n, sizeof(const struct nldev_qp *), by_device_and_number);
	return list;
}

/* True if the queue pair of this entry was destroyed. Not called if a queue pair with the same
 * number was created afterwards, because that one is in the table. */
static bool was_destroyed(const struct qp_table *t, const struct nldev_qp *d, uint64_t begun_ns)
{
	for (size_t i = 0; t->destroyed && i < QP_DESTROYED_MAX; i++) {
		const struct qp_destroyed *gone = &t->destroyed[i];

		if (gone->qpn == d->qpn && strcmp(gone->device, d->device) == 0 &&
		    gone->time_ns + QP_DESTROYING_NS > begun_ns)
			return true;
	}
	return false;
}

/* True if the number was reused without an event. Both pids are of processes, not of threads, see
 * qps_work.c. */
static bool qp_is_another(const struct qp *qp, const struct nldev_qp *d)
{
	return (qp->type != d->type && qp->type != QP_UNKNOWN) ||
	       (d->pid && qp->pid && qp->pid != d->pid);
}

static void apply_entry(struct qp *qp, const struct nldev_qp *d)
{
	if (qp->state != d->state)
		qp_set_state(qp, d->state);
	qp->type = d->type;
	qp->port = d->port ? d->port : qp->port;
	if (d->peer_qpn != QP_UNKNOWN && d->state != QP_STATE_RESET)
		qp->peer_qpn = d->peer_qpn;
	if (d->pid && !qp->pid) {
		qp->pid = d->pid;
		qp->owner_known = false;
	}
	if (!d->owner[0])
		return;
	qp->kernel = qp->owner_known = true;
	snprintf(qp->comm, sizeof(qp->comm), "%.*s", (int)sizeof(qp->comm) - 1, d->owner);
}

/* Merges a dump entry into `old` (NULL: not in the table), unless an event changed it since the
 * dump began. NULL: out of memory. */
static struct qp *merge_into(struct qp *old, const struct nldev_qp *d, uint64_t begun_ns)
{
	struct qp *qp = old ? old : malloc(sizeof(*qp));

	if (!qp || (old && old->changed_ns > begun_ns))
		return qp;
	if (!old || qp_is_another(old, d))
		qp_init(qp, d->device, d->qpn);
	apply_entry(qp, d);
	return qp;
}

/* A merge of two sorted lists; queue pairs left in the old array are freed. */
struct merge {
	struct qp_table *table;
	struct qp **items;
	size_t n, at; /* at: index in the table's items */
	uint64_t begun_ns;
	const char (*devices)[RDMA_NAME_SIZE]; /* NULL: all devices have been read */
	size_t n_devices;
};

static bool was_read(const struct merge *m, const struct qp *qp)
{
	for (size_t i = 0; m->devices && i < m->n_devices; i++)
		if (strcmp(m->devices[i], qp->device) == 0)
			return true;
	return !m->devices;
}

/* Keeps or frees the table's queue pairs that are less than this entry; NULL: all remaining ones.
 */
static void merge_before(struct merge *m, const struct nldev_qp *until)
{
	struct qp_table *t = m->table;

	for (; m->at < t->n; m->at++) {
		struct qp *qp = t->items[m->at];

		if (until && qp_compare(qp, until->device, until->qpn) >= 0)
			return;
		if ((qp->changed_ns > m->begun_ns || !was_read(m, qp)) && m->n < QP_TABLE_MAX)
			m->items[m->n++] = qp;
		else
			free(qp);
	}
}

static void merge_entry(struct merge *m, const struct nldev_qp *d)
{
	struct qp_table *t = m->table;
	struct qp *old, *qp;

	merge_before(m, d);
	old = qp_at(t, m->at, d->device, d->qpn);
	m->at += old != NULL;
	if (!old && was_destroyed(t, d, m->begun_ns))
		return;
	qp = m->n < QP_TABLE_MAX ? merge_into(old, d, m->begun_ns) : NULL;
	if (qp) {
		m->items[m->n++] = qp;
	} else {
		free(old);
		t->dropped++;
	}
}

static int merge_dump(struct merge m, const struct nldev_qp *entries, size_t n)
{
	struct qp_table *t = m.table;
	const struct nldev_qp **list = sort_entries(entries, n);
	bool lost = t->dumping && t->n_destroyed > QP_DESTROYED_MAX;
	size_t room = 1; /* array_push()'s sizes, so that the array can grow later */

	while (room < t->n + n)
		room *= 2;
	m.items = list && !lost ? malloc(room * sizeof(struct qp *)) : NULL;
	for (size_t i = 0; m.items && i < n; i++)
		if (i == 0 || by_device_and_number(&list[i - 1], &list[i]) != 0)
			merge_entry(&m, list[i]);
	free(list);
	t->dumping = false;
	if (!m.items)
		return lost ? -EAGAIN : -ENOMEM;
	merge_before(&m, NULL);
	free(t->items);
	t->items = m.items;
	t->n = m.n;
	t->generation++;
	return 0;
}

int qp_table_replace(struct qp_table *t, const struct nldev_qp *entries, size_t n,
		     uint64_t begun_ns)
{
	return merge_dump((struct merge){.table = t, .begun_ns = begun_ns}, entries, n);
}

int qp_table_replace_some(struct qp_table *t, const struct nldev_qp *entries, size_t n,
			  uint64_t begun_ns, const char (*devices)[RDMA_NAME_SIZE],
			  size_t n_devices)
{
	static const char none[1][RDMA_NAME_SIZE];

	return merge_dump((struct merge){.table = t,
					 .begun_ns = begun_ns,
					 .devices = devices ? devices : none,
					 .n_devices = n_devices},
			  entries, n);
}
