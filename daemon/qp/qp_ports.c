#include "qp_ports.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "bpf_words.h"
#include "fnv.h"

/* A failure is told for so long. */
#define FAILED_NS UINT64_C(60000000000)

/* Peers that were seen, each with its port: open addressing, twice as many places as could be
 * needed; 0 = free. Of two that share 64 bits one is lost, which nobody will see. */
struct peer_set {
	uint64_t *slots;
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

/* True: it is new. kind: failed or not, which are counted apart. */
static bool peer_set_add(struct peer_set *s, size_t port, unsigned kind, const uint8_t gid[16])
{
	uint64_t key = fnv1a(FNV1A_START, gid, 16) ^ (2 * port + kind) * 0x9e3779b97f4a7c15;
	size_t at;

	key += key == 0;
	for (at = key & s->mask; s->slots[at]; at = (at + 1) & s->mask)
		if (s->slots[at] == key)
			return false;
	s->slots[at] = key;
	return true;
}

/* The table is sorted by device. NULL: out of memory. */
static struct qp_port *port_of(struct qp_ports *p, const struct qp *qp)
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
	if (!has_peer || !peer_set_add(peers, port, 1, qp->peer_gid))
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
	if (has_peer)
		q->peers += peer_set_add(peers, port, 0, qp->peer_gid);
	if (qp->failed && now_ns - qp->changed_ns < FAILED_NS)
		add_failure(q, qp, peers, port, has_peer);
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
		item = port_of(ret, qp);
		if (item)
			add_qp(ret, item, qp, &peers, now_ns);
		else
			r = -ENOMEM;
	}
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
