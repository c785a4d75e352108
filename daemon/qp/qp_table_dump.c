/* qp_table_dump.c - the table and a dump, both sorted, are merged into a new array. Pure. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "qp_table_parts.h"

void qp_table_dump_begins(struct qp_table *t)
{
	t->dumping = true;
	t->n_destroyed = 0;
}

void qp_table_dump_failed(struct qp_table *t)
{
	t->dumping = false;
}

static int by_name(const void *a, const void *b)
{
	const struct nldev_qp *const *x = a, *const *y = b;
	int r = strcmp((*x)->device, (*y)->device);

	return r ? r : ((*x)->qpn > (*y)->qpn) - ((*x)->qpn < (*y)->qpn);
}

static const struct nldev_qp **sorted(const struct nldev_qp *entries, size_t n)
{
	const struct nldev_qp **list = malloc((n ? n : 1) * sizeof(const struct nldev_qp *));

	for (size_t i = 0; list && i < n; i++)
		list[i] = &entries[i];
	if (list)
		qsort(list, n, sizeof(const struct nldev_qp *), by_name);
	return list;
}

/* One that was made anew since is in the table, and is not asked for here. */
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

/* The number was given again, unheard. Both pids are processes', see qps_work.c. */
static bool is_another(const struct qp *qp, const struct nldev_qp *d)
{
	return (qp->type != d->type && qp->type != QP_UNKNOWN) ||
	       (d->pid && qp->pid && qp->pid != d->pid);
}

static void take_entry(struct qp *qp, const struct nldev_qp *d)
{
	if (qp->state != d->state)
		qp_take_state(qp, d->state);
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

/* What the table is to have in the place of `old` (NULL: nothing) and of an entry of that name;
 * NULL: no memory. */
static struct qp *joined(struct qp *old, const struct nldev_qp *d, uint64_t begun_ns)
{
	struct qp *qp = old ? old : malloc(sizeof(*qp));

	if (!qp || (old && old->changed_ns > begun_ns))
		return qp;
	if (!old || is_another(old, d))
		qp_init(qp, d->device, d->qpn);
	take_entry(qp, d);
	return qp;
}

/* Both sorted; what is left in the old array is gone. */
struct merge {
	struct qp_table *table;
	struct qp **items;
	size_t n, at; /* at: in the table's */
	uint64_t begun_ns;
	const char (*devices)[RDMA_NAME_SIZE]; /* NULL: all have been read */
	size_t n_devices;
};

static bool was_read(const struct merge *m, const struct qp *qp)
{
	for (size_t i = 0; m->devices && i < m->n_devices; i++)
		if (strcmp(m->devices[i], qp->device) == 0)
			return true;
	return !m->devices;
}

/* Up to the first that does not stand before this name; NULL: all. */
static void pass(struct merge *m, const struct nldev_qp *until)
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

static void take(struct merge *m, const struct nldev_qp *d)
{
	struct qp_table *t = m->table;
	struct qp *old, *qp;

	pass(m, d);
	old = qp_table_at(t, m->at, d->device, d->qpn);
	m->at += old != NULL;
	if (!old && was_destroyed(t, d, m->begun_ns))
		return;
	qp = m->n < QP_TABLE_MAX ? joined(old, d, m->begun_ns) : NULL;
	if (qp) {
		m->items[m->n++] = qp;
	} else {
		free(old);
		t->dropped++;
	}
}

static int merge(struct merge m, const struct nldev_qp *entries, size_t n)
{
	struct qp_table *t = m.table;
	const struct nldev_qp **list = sorted(entries, n);
	bool lost = t->dumping && t->n_destroyed > QP_DESTROYED_MAX;
	size_t room = 1; /* as array_push() makes it, for what comes after */

	while (room < t->n + n)
		room *= 2;
	m.items = list && !lost ? malloc(room * sizeof(struct qp *)) : NULL;
	for (size_t i = 0; m.items && i < n; i++)
		if (i == 0 || by_name(&list[i - 1], &list[i]) != 0)
			take(&m, list[i]);
	free(list);
	t->dumping = false;
	if (!m.items)
		return lost ? -EAGAIN : -ENOMEM;
	pass(&m, NULL);
	free(t->items);
	t->items = m.items;
	t->n = m.n;
	t->generation++;
	return 0;
}

int qp_table_replace(struct qp_table *t, const struct nldev_qp *entries, size_t n,
		     uint64_t begun_ns)
{
	return merge((struct merge){.table = t, .begun_ns = begun_ns}, entries, n);
}

int qp_table_replace_some(struct qp_table *t, const struct nldev_qp *entries, size_t n,
			  uint64_t begun_ns, const char (*devices)[RDMA_NAME_SIZE],
			  size_t n_devices)
{
	static const char none[1][RDMA_NAME_SIZE];

	return merge((struct merge){.table = t,
				    .begun_ns = begun_ns,
				    .devices = devices ? devices : none,
				    .n_devices = n_devices},
		     entries, n);
}
