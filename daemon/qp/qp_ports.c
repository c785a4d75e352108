// SPDX-License-Identifier: Apache-2.0
#include "qp_ports.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "bpf_words.h"
#include "fnv.h"

/* Time for which a failure is reported. */
#define FAILED_NS UINT64_C(60000000000)

/* A peer of a port, in the hash table below. */
struct peer_slot {
	uint64_t key; /* 0 = free */
	uint32_t port, n;
	int flow_label;	    /* of the first queue pair */
	bool same, unknown; /* same: all queue pairs have that label; unknown: the label of some is
			     * unknown */
};

/* Set of (port, peer): a hash table with open addressing, at least half empty. Two peers with the
 * same 64-bit key would be counted as one, which is extremely unlikely. */
struct peer_set {
	struct peer_slot *slots;
	size_t mask;
};

static int peer_set_init(struct peer_set *s, size_t n)
{
	size_t size = 16;

	while (size < 2 * n)
		size *= 2;
	s->slots = calloc(size, sizeof(*s->slots));
	s->mask = size - 1;
	return s->slots ? 0 : -ENOMEM;
}

/* Finds or adds a peer; n == 0: it is new. kind: 1 for failed, 0 for all, which are counted
 * separately. */
static struct peer_slot *peer_set_find(struct peer_set *s, size_t port, unsigned kind,
				       const uint8_t gid[16])
{
	uint64_t key = fnv1a(FNV1A_START, gid, 16) ^ (2 * port + kind) * 0x9e3779b97f4a7c15;
	size_t at;

	key += key == 0;
	for (at = key & s->mask; s->slots[at].key; at = (at + 1) & s->mask)
		if (s->slots[at].key == key)
			return &s->slots[at];
	s->slots[at] = (struct peer_slot){.key = key, .port = (uint32_t)port};
	return &s->slots[at];
}

/* Counts a queue pair of the peer. True: it is the first one. */
static bool count_peer(struct peer_slot *s)
{
	return s->n++ == 0;
}

static void qp_ports_add_label(struct peer_slot *s, const struct qp *qp)
{
	if (s->n == 1) {
		s->flow_label = qp->flow_label;
		s->same = true;
	}
	s->same &= qp->flow_label == s->flow_label;
	s->unknown |= qp->flow_label < 0;
}

/* Finds or adds the port; the table is sorted by device. NULL: out of memory. */
static struct qp_port *qp_ports_port_of(struct qp_ports *p, const struct qp *qp)
{
	struct qp_port *item;

	for (size_t i = p->n; i > 0 && strcmp(p->items[i - 1].device, qp->device) == 0; i--)
		if (p->items[i - 1].port == qp->port)
			return &p->items[i - 1];
	item = array_push(p->items, p->n);
	if (!item)
		return NULL;
	memcpy(item->device, qp->device, sizeof(item->device));
	item->port = qp->port;
	return item;
}

static void add_failure(struct observed_qps *q, const struct qp *qp, struct peer_set *peers,
			size_t port, bool has_peer)
{
	q->failures_known = true;
	q->failed++;
	if (!has_peer || !count_peer(peer_set_find(peers, port, 1, qp->peer_gid)))
		return;
	if (++q->failed_peers == 1)
		bpf_address_text(qp->peer_gid, q->peer, sizeof(q->peer));
	else
		q->peer[0] = '\0';
}

static void add_qp(struct qp_ports *p, struct qp_port *item, const struct qp *qp,
		   struct peer_set *peers, uint64_t now_ns)
{
	static const uint8_t none[16];
	bool has_peer = memcmp(qp->peer_gid, none, sizeof(none)) != 0;
	struct observed_qps *q = &item->qps;
	size_t port = (size_t)(item - p->items);

	q->count++;
	q->known |= qp->traffic_class >= 0;
	q->not_ect += qp->traffic_class >= 0 && (qp->traffic_class & 3) == 0;
	if (qp->path_mtu > q->path_mtu)
		q->path_mtu = qp->path_mtu;
	if (has_peer) {
		struct peer_slot *peer = peer_set_find(peers, port, 0, qp->peer_gid);

		q->peers += count_peer(peer);
		qp_ports_add_label(peer, qp);
	}
	if (qp->failed && now_ns - qp->changed_ns < FAILED_NS)
		add_failure(q, qp, peers, port, has_peer);
}

/* Finds for each port the largest number of queue pairs to one peer that all have the same flow
 * label. A label of 0 is ignored: the driver then derives one from the queue pairs' numbers. */
static void count_labels(struct qp_ports *p, const struct peer_set *s)
{
	for (size_t i = 0; i <= s->mask; i++) {
		const struct peer_slot *slot = &s->slots[i];
		struct observed_qps *q;

		if (!slot->key || slot->unknown || slot->n == 0)
			continue;
		q = &p->items[slot->port].qps;
		q->labels_known = true;
		if (slot->same && slot->flow_label > 0 && slot->n > q->one_label)
			q->one_label = slot->n;
	}
}

int qp_ports_build(struct qp_ports *ret, const struct qp_table *t, uint64_t now_ns)
{
	struct peer_set peers;
	int r = peer_set_init(&peers, 2 * t->n);

	for (size_t i = 0; i < t->n && r == 0; i++) {
		const struct qp *qp = t->items[i];
		struct qp_port *item;

		if (qp->type <= QP_TYPE_GSI)
			continue;
		item = qp_ports_port_of(ret, qp);
		if (item)
			add_qp(ret, item, qp, &peers, now_ns);
		else
			r = -ENOMEM;
	}
	if (r == 0)
		count_labels(ret, &peers);
	free(peers.slots);
	if (r < 0)
		qp_ports_done(ret);
	return r;
}

void qp_ports_done(struct qp_ports *p)
{
	free(p->items);
	*p = (struct qp_ports){0};
}

int qp_ports_copy(struct qp_ports *dst, const struct qp_ports *src)
{
	if (src->n > dst->room) {
		void *items = reallocarray(dst->items, src->n, sizeof(*dst->items));

		if (!items)
			return -ENOMEM;
		dst->items = items;
		dst->room = src->n;
	}
	dst->n = src->n;
	if (src->n > 0)
		memcpy(dst->items, src->items, src->n * sizeof(*dst->items));
	return 0;
}

const struct observed_qps *qp_ports_find(const struct qp_ports *p, const char *device,
					 uint32_t port)
{
	size_t first = 0, end = p->n;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (strcmp(p->items[middle].device, device) < 0)
			first = middle + 1;
		else
			end = middle;
	}
	for (; first < p->n && strcmp(p->items[first].device, device) == 0; first++)
		if (p->items[first].port == port)
			return &p->items[first].qps;
	return NULL;
}
