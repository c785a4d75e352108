// SPDX-License-Identifier: Apache-2.0
/* qp_flows.c - links flows to queue pairs, sorts the links by row, then builds the requested rows.
 *
 * Rows with numbers below table->n are the table's queue pairs, the others are flows. A row has
 * only a few bytes; sums are only computed for rows that are returned. */
#include "qp_flows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"

struct link {
	uint32_t row, flow;
	bool sent;
};

struct row {
	uint32_t number;   /* row number, see above */
	uint32_t first, n; /* range of its links */
	uint64_t key;
};

struct join {
	const struct qp_sources *in;
	const struct qp_query *query;
	size_t n_qps;
	const struct rdma_dev **devices; /* the RDMA device of each packet port */
	uint32_t *by_peer; /* queue pairs that have a peer, sorted by device and peer's number */
	size_t n_by_peer;
	struct link *links;
	size_t n_links;
	uint32_t *flows; /* the flows that are rows of their own */
	size_t n_flows;
	struct row *rows;
	size_t n_rows;
};

/* --- linking ---------------------------------------------------------------------------------- */

static bool qp_flows_is_zero(const uint8_t address[16])
{
	static const uint8_t none[16];

	return memcmp(address, none, sizeof(none)) == 0;
}

enum owns { OWNS_UNKNOWN, OWNS_NOT, OWNS };

/* Returns whether it is an address of the device. */
static enum owns owns(const struct rdma_dev *d, const uint8_t address[16])
{
	enum owns verdict = OWNS_UNKNOWN;

	for (unsigned i = 0; d && i < d->n_ports; i++) {
		for (unsigned k = 0; k < d->ports[i].n_gids; k++) {
			if (memcmp(d->ports[i].gids[k].raw, address, 16) == 0)
				return OWNS;
			verdict = OWNS_NOT;
		}
	}
	return verdict;
}

/* False for a datagram queue pair, which receives from any sender. */
static bool has_one_peer(const struct qp *qp)
{
	return qp->type == QP_TYPE_RC || qp->type == QP_TYPE_UC;
}

static bool receives(const struct qp *qp, const struct rdma_dev *d, const struct roce_flow_key *key)
{
	if (owns(d, key->daddr) == OWNS_NOT)
		return false;
	return !has_one_peer(qp) || qp_flows_is_zero(qp->peer_gid) ||
	       memcmp(qp->peer_gid, key->saddr, sizeof(key->saddr)) == 0;
}

/* True if the queue pair sends the flow. alone: it is the only queue pair of the device with a peer
 * of that number. */
static bool sends(const struct qp *qp, const struct rdma_dev *d, const struct roce_flow_key *key,
		  bool alone)
{
	enum owns own = owns(d, key->saddr);

	if (own == OWNS_NOT)
		return false;
	return qp_flows_is_zero(qp->peer_gid)
		       ? own == OWNS && alone
		       : memcmp(qp->peer_gid, key->daddr, sizeof(key->daddr)) == 0;
}

static int compare_peer(const struct qp *qp, const char *device, uint32_t peer_qpn)
{
	int r = strcmp(qp->device, device);

	return r ? r : (qp->peer_qpn > peer_qpn) - (qp->peer_qpn < peer_qpn);
}

static int by_peer(const void *a, const void *b, void *arg)
{
	struct qp *const *items = arg;
	const struct qp *x = items[*(const uint32_t *)a], *y = items[*(const uint32_t *)b];

	return compare_peer(x, y->device, y->peer_qpn);
}

static int index_peers(struct join *j)
{
	const struct qp_table *t = j->in->table;

	j->by_peer = j->n_qps ? malloc(j->n_qps * sizeof(*j->by_peer)) : NULL;
	if (j->n_qps && !j->by_peer)
		return -ENOMEM;
	for (uint32_t i = 0; i < j->n_qps; i++)
		if (t->items[i]->peer_qpn != QP_UNKNOWN)
			j->by_peer[j->n_by_peer++] = i;
	if (j->n_by_peer)
		qsort_r(j->by_peer, j->n_by_peer, sizeof(*j->by_peer), by_peer, t->items);
	return 0;
}

/* Returns the index in by_peer of the first entry that is not less. */
static size_t first_with_peer(const struct join *j, const char *device, uint32_t peer_qpn)
{
	return lower_bound(j->n_by_peer, i,
			   compare_peer(j->in->table->items[j->by_peer[i]], device, peer_qpn) < 0);
}

static int qp_flows_add_link(struct join *j, size_t row, size_t flow, bool sent)
{
	struct link *l = array_push(j->links, j->n_links);

	if (!l)
		return -ENOMEM;
	*l = (struct link){(uint32_t)row, (uint32_t)flow, sent};
	return 0;
}

static int add_flow_row(struct join *j, size_t flow)
{
	uint32_t *slot = array_push(j->flows, j->n_flows);

	if (!slot)
		return -ENOMEM;
	*slot = (uint32_t)flow;
	return qp_flows_add_link(j, j->n_qps + j->n_flows - 1, flow, false);
}

static bool has_peer(const struct join *j, size_t i, const char *device, uint32_t peer_qpn)
{
	return i < j->n_by_peer &&
	       compare_peer(j->in->table->items[j->by_peer[i]], device, peer_qpn) == 0;
}

static int link_senders(struct join *j, size_t flow, const char *device, const struct rdma_dev *d)
{
	const struct roce_flow_key *key = &j->in->packets->flows[flow].key;
	size_t first = first_with_peer(j, device, key->qpn);
	bool alone = !has_peer(j, first + 1, device, key->qpn);
	int r = 0;

	for (size_t i = first; r == 0 && has_peer(j, i, device, key->qpn); i++)
		if (sends(j->in->table->items[j->by_peer[i]], d, key, alone))
			r = qp_flows_add_link(j, j->by_peer[i], flow, true);
	return r;
}

static int link_flow(struct join *j, size_t i)
{
	const struct packet_flow *f = &j->in->packets->flows[i];
	const char *device = j->in->packets->ports[f->port].device;
	const struct rdma_dev *d = j->devices[f->port];
	size_t before = j->n_links, receiver = SIZE_MAX;
	int r = 0;

	if (device[0] && j->n_qps) {
		receiver = qp_table_index(j->in->table, device, f->key.qpn);
		if (receiver != SIZE_MAX && receives(j->in->table->items[receiver], d, &f->key))
			r = qp_flows_add_link(j, receiver, i, false);
		if (r == 0)
			r = link_senders(j, i, device, d);
	}
	return r == 0 && j->n_links == before ? add_flow_row(j, i) : r;
}

static int by_row(const void *a, const void *b)
{
	const struct link *x = a, *y = b;

	return (x->row > y->row) - (x->row < y->row);
}

/* Returns the RDMA device of a port. The name of a device is only unique within its namespace, so
 * the function is compared, too. */
static const struct rdma_dev *device_of(const struct host *h, const struct packet_port *p)
{
	for (size_t i = 0; p->function[0] && i < h->n_rdma; i++)
		if (strcmp(h->rdma[i].name, p->device) == 0 &&
		    strcmp(h->rdma[i].function, p->function) == 0)
			return &h->rdma[i];
	return p->function[0] ? NULL : host_rdma(h, p->device);
}

static int find_devices(struct join *j)
{
	const struct packet_sample *s = j->in->packets;

	j->devices = calloc(s->n_ports ? s->n_ports : 1, sizeof(const struct rdma_dev *));
	for (size_t i = 0; j->devices && j->in->host && i < s->n_ports; i++)
		if (s->ports[i].device[0])
			j->devices[i] = device_of(j->in->host, &s->ports[i]);
	return j->devices ? 0 : -ENOMEM;
}

static int link_all(struct join *j)
{
	const struct packet_sample *s = j->in->packets;
	int r = index_peers(j);

	if (r < 0 || !s)
		return r;
	r = find_devices(j);
	for (size_t i = 0; i < s->n_flows && r == 0; i++)
		if (s->flows[i].port < s->n_ports)
			r = link_flow(j, i);
	if (r == 0 && j->n_links)
		qsort(j->links, j->n_links, sizeof(*j->links), by_row);
	return r;
}

/* --- rows ------------------------------------------------------------------------------------ */

static const struct qp *qp_of(const struct join *j, const struct row *row)
{
	return row->number < j->n_qps ? j->in->table->items[row->number] : NULL;
}

static const struct packet_flow *flow_of(const struct join *j, const struct row *row, uint32_t link)
{
	return &j->in->packets->flows[j->links[row->first + link].flow];
}

static const struct sandbox *qp_flows_pod_of(const struct join *j, const struct qp *qp)
{
	return qp && j->in->sandboxes ? sandbox_of_pod(j->in->sandboxes, qp->pod_uid) : NULL;
}

static bool pod_has_name(const struct sandbox *s, const char *wanted)
{
	size_t n = strlen(s->namespace);

	return strcmp(s->pod, wanted) == 0 ||
	       (strncmp(wanted, s->namespace, n) == 0 && wanted[n] == '/' &&
		strcmp(wanted + n + 1, s->pod) == 0);
}

static bool matches_pod(const struct join *j, const struct row *row)
{
	const char *wanted = j->query->pod;
	const struct qp *qp = qp_of(j, row);
	const struct sandbox *pod;

	if (!wanted)
		return true;
	if (!qp || !qp->pod_uid[0])
		return false;
	pod = qp_flows_pod_of(j, qp);
	return strcmp(qp->pod_uid, wanted) == 0 || (pod && pod_has_name(pod, wanted));
}

static bool matches_device(const struct join *j, const struct row *row)
{
	const char *wanted = j->query->device, *function = j->query->function;
	const struct packet_port *port = row->n ? &j->in->packets->ports[flow_of(j, row, 0)->port]
						: NULL;
	const struct qp *qp = qp_of(j, row);
	const struct rdma_dev *d;

	if (!wanted || (qp && strcmp(qp->device, wanted) == 0))
		return true;
	if (port && (strcmp(port->device, wanted) == 0 || strcmp(port->netdev, wanted) == 0))
		return true;
	if (!function)
		return false;
	d = qp && j->in->host ? host_rdma(j->in->host, qp->device) : NULL;
	return (d && strcmp(d->function, function) == 0) ||
	       (port && strcmp(port->function, function) == 0);
}

static uint64_t qp_flows_number_of(const struct roce_flow *f, enum qp_top top)
{
	switch (top) {
	case QP_TOP_NONE:
	case QP_TOP_RTT:
	case N_QP_TOPS:
		break;
	case QP_TOP_CE:
		return f->ce;
	case QP_TOP_CNP:
		return f->cnp;
	case QP_TOP_NAKS:
		return f->naks + f->rnr_naks;
	case QP_TOP_RETRANSMISSIONS:
		return f->retransmissions;
	case QP_TOP_PACKETS:
		return f->packets;
	}
	return 0;
}

static uint64_t qp_flows_key_of(const struct join *j, const struct row *row)
{
	uint64_t sum = 0, rtt = 0, n = 0;

	for (uint32_t i = 0; i < row->n; i++) {
		const struct roce_flow *f = &flow_of(j, row, i)->flow;

		sum += qp_flows_number_of(f, j->query->top);
		rtt += f->rtt_sum_ns;
		n += f->rtt_count;
	}
	return j->query->top != QP_TOP_RTT ? sum : n ? rtt / n : 0;
}

/* Builds the rows that match the query. The links of a row are adjacent, in the order of rows. */
static int make_rows(struct join *j)
{
	size_t n = j->n_qps + j->n_flows, at = 0;

	j->rows = malloc((n ? n : 1) * sizeof(*j->rows));
	if (!j->rows)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct row row = {.number = (uint32_t)i, .first = (uint32_t)at};

		while (at < j->n_links && j->links[at].row == i)
			at++;
		row.n = (uint32_t)at - row.first;
		row.key = qp_flows_key_of(j, &row);
		if (matches_device(j, &row) && matches_pod(j, &row))
			j->rows[j->n_rows++] = row;
	}
	return 0;
}

static int by_key(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	return (x->number > y->number) - (x->number < y->number);
}

/* --- values of a row -------------------------------------------------------------------------- */

static void add_flow(struct roce_flow *sum, const struct roce_flow *f)
{
	sum->packets += f->packets;
	sum->bytes += f->bytes;
	sum->ce += f->ce;
	sum->cnp += f->cnp;
	sum->naks += f->naks;
	sum->rnr_naks += f->rnr_naks;
	sum->retransmissions += f->retransmissions;
	sum->rtt_sum_ns += f->rtt_sum_ns;
	sum->rtt_count += f->rtt_count;
	for (size_t i = 0; i < ARRAY_SIZE(f->rtt); i++)
		sum->rtt[i] += f->rtt[i];
	if (f->last_seen_ns > sum->last_seen_ns)
		sum->last_seen_ns = f->last_seen_ns;
}

static void add_links(const struct join *j, const struct row *row, struct qp_row *row_out)
{
	for (uint32_t i = 0; i < row->n; i++) {
		const struct packet_flow *f = flow_of(j, row, i);
		bool sent = j->links[row->first + i].sent;

		row_out->port = &j->in->packets->ports[f->port];
		row_out->address = sent ? f->key.saddr : f->key.daddr;
		row_out->has_sent |= sent;
		row_out->has_received |= !sent;
		add_flow(sent ? &row_out->sent : &row_out->received, &f->flow);
	}
}

static int report_row(const struct join *j, const struct row *row, qp_row_fn *fn, void *arg)
{
	struct qp_row row_out = {.qp = qp_of(j, row)};

	row_out.pod = qp_flows_pod_of(j, row_out.qp);
	row_out.flow = row_out.qp ? NULL : flow_of(j, row, 0);
	add_links(j, row, &row_out);
	return fn(&row_out, arg);
}

static void join_done(struct join *j)
{
	free(j->devices);
	free(j->by_peer);
	free(j->links);
	free(j->flows);
	free(j->rows);
}

int qp_flows_each(const struct qp_sources *in, const struct qp_query *query, qp_row_fn *fn,
		  void *arg, size_t *ret_total)
{
	struct join j = {.in = in, .query = query, .n_qps = in->table ? in->table->n : 0};
	int r = link_all(&j);

	if (r == 0)
		r = make_rows(&j);
	if (r == 0) {
		*ret_total = j.n_rows;
		qsort(j.rows, j.n_rows, sizeof(*j.rows), by_key);
	}
	for (size_t i = 0; r >= 0 && i < j.n_rows && i < query->limit; i++)
		r = report_row(&j, &j.rows[i], fn, arg);
	join_done(&j);
	return r < 0 ? r : 0;
}

bool qp_top_parse(const char *text, enum qp_top *ret)
{
	static const char *const names[N_QP_TOPS] = {
		[QP_TOP_CE] = "ce",	[QP_TOP_CNP] = "cnp",
		[QP_TOP_NAKS] = "naks", [QP_TOP_RETRANSMISSIONS] = "retransmissions",
		[QP_TOP_RTT] = "rtt",	[QP_TOP_PACKETS] = "packets",
	};

	for (size_t i = 0; i < N_QP_TOPS; i++) {
		if (names[i] && strcmp(names[i], text) == 0) {
			*ret = (enum qp_top)i;
			return true;
		}
	}
	return false;
}
