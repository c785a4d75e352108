// SPDX-License-Identifier: Apache-2.0
/* packet_plan.c - collects candidates from each source, then removes duplicates. */
#include "packet_plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "search.h"

struct build {
	const struct host *host;
	struct attach_list pods;
	const struct options *options;
	struct packet_wanted *items;
	size_t n;
	bool *planned; /* for each attachment: its interface is among the items */
	bool failed;
};

#define COPY(dst, src) snprintf((dst), sizeof(dst), "%s", (src))

/* Adds an item. NULL: out of memory; the build has then failed. */
static struct packet_wanted *packet_add_wanted(struct build *b, enum packet_role role)
{
	struct packet_wanted *w = array_push(b->items, b->n);
	bool mirror = role == PACKET_MIRROR;

	if (!w) {
		b->failed = true;
		return NULL;
	}
	w->port.role = role;
	w->port.nsid = NSID_HOST;
	w->port.flows = mirror ? b->options->mirror_flows : b->options->packet_flows;
	w->xdp = mirror;
	return w;
}

/* --- configured interfaces -------------------------------------------------------------------- */

static const struct netdev *packet_netdev_named(const struct host *h, const char *name)
{
	return find_first(h->netdevs, h->n_netdevs, i,
			  h->netdevs[i].nsid == NSID_HOST && strcmp(h->netdevs[i].name, name) == 0);
}

/* Fills in the RDMA device of the interface, if any. */
static void packet_find_device(struct packet_port *p, const struct host *h)
{
	for (size_t i = 0; i < h->n_rdma; i++)
		for (unsigned k = 0; k < h->rdma[i].n_ports; k++) {
			const struct rdma_port *port = &h->rdma[i].ports[k];

			if (port->netdev_nsid != p->nsid || port->netdev_ifindex != p->ifindex)
				continue;
			COPY(p->device, h->rdma[i].name);
			p->device_port = port->num;
			return;
		}
}

static void add_configured(struct build *b, const struct option_list *names, enum packet_role role)
{
	for (unsigned i = 0; i < names->n; i++) {
		const struct netdev *nd = packet_netdev_named(b->host, names->items[i]);
		struct packet_wanted *w = packet_add_wanted(b, role);

		if (!w)
			return;
		snprintf(w->port.netdev, sizeof(w->port.netdev), "%.15s", names->items[i]);
		if (!nd)
			continue;
		w->port.ifindex = nd->ifindex;
		COPY(w->port.function, nd->function);
		packet_find_device(&w->port, b->host);
	}
}

/* --- soft-RoCE, and pods ---------------------------------------------------------------------- */

static bool packet_is_soft_roce(const struct rdma_dev *dev)
{
	return strcmp(dev->driver, "rxe") == 0;
}

/* Returns the index of the attachment of this device, unless it is free; the number of attachments
 * if there is none. */
static size_t packet_pod_of(const struct build *b, const struct rdma_dev *dev)
{
	size_t i = 0;

	while (i < b->pods.n && (b->pods.items[i].record->state == ATTACH_FREE ||
				 !attach_record_is_rdma(b->pods.items[i].record, dev)))
		i++;
	return i;
}

static void set_pod(struct packet_wanted *w, const struct attach_record *r)
{
	w->port.role = PACKET_POD;
	w->netns = r->owner.netns;
	COPY(w->port.netns, r->owner.netns.path);
}

static void set_namespace(struct packet_wanted *w, const struct host *h)
{
	const char *name = host_netns_name(h, w->port.nsid);

	if (name[0]) {
		snprintf(w->netns.path, sizeof(w->netns.path), "/run/netns/%s", name);
		COPY(w->port.netns, name);
	} else {
		snprintf(w->port.netns, sizeof(w->port.netns), "id:%d", w->port.nsid);
	}
}

/* Adds a port. If its netdev is not visible, it is watched only if we attached it. A port that is
 * attaching or returning is not watched. */
static void packet_add_port(struct build *b, const struct rdma_dev *dev,
			    const struct rdma_port *port)
{
	bool is_visible = port->netdev_ifindex && port->netdev_nsid != NSID_ELSEWHERE;
	size_t at = is_visible && port->netdev_nsid == NSID_HOST ? b->pods.n
								 : packet_pod_of(b, dev);
	const struct attach_record *pod = at < b->pods.n ? b->pods.items[at].record : NULL;
	struct packet_wanted *w;

	if ((!is_visible && !pod) || (pod && pod->state != ATTACH_IN_POD))
		return;
	w = packet_add_wanted(b, PACKET_SOFT_ROCE);
	if (!w)
		return;
	w->port.nsid = is_visible ? port->netdev_nsid : NSID_ELSEWHERE;
	w->port.ifindex = is_visible ? port->netdev_ifindex : 0;
	COPY(w->port.netdev, is_visible || !pod ? port->netdev : pod->plan.ifname);
	COPY(w->port.device, dev->name);
	COPY(w->port.function, dev->function);
	w->port.device_port = port->num;
	if (w->port.nsid != NSID_HOST)
		set_namespace(w, b->host);
	if (!pod)
		return;
	set_pod(w, pod);
	b->planned[at] = true;
}

static bool packet_is_watched(const struct build *b, const struct rdma_dev *dev)
{
	return packet_is_soft_roce(dev) ||
	       (b->options->packet_pods && packet_pod_of(b, dev) < b->pods.n);
}

static void packet_add_devices(struct build *b)
{
	for (size_t i = 0; i < b->host->n_rdma; i++)
		for (unsigned k = 0;
		     packet_is_watched(b, &b->host->rdma[i]) && k < b->host->rdma[i].n_ports; k++)
			packet_add_port(b, &b->host->rdma[i], &b->host->rdma[i].ports[k]);
}

/* Adds devices in pods that are not visible to the inventory, from their attachment records. */
static void add_pods(struct build *b)
{
	for (size_t i = 0; i < b->pods.n; i++) {
		const struct attach_record *r = b->pods.items[i].record;
		struct packet_wanted *w;

		if (r->state != ATTACH_IN_POD || r->plan.in_host || b->planned[i])
			continue;
		if (!r->plan.soft_roce && !b->options->packet_pods)
			continue;
		w = packet_add_wanted(b, PACKET_POD);
		if (!w)
			return;
		w->port.nsid = NSID_ELSEWHERE;
		COPY(w->port.netdev, r->plan.ifname);
		COPY(w->port.device, r->rdma);
		COPY(w->port.function, r->function);
		w->port.device_port = r->rdma[0] ? 1 : 0;
		set_pod(w, r);
	}
}

/* --- duplicates ------------------------------------------------------------------------------- */

static int cmp_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* If the namespace has an id, the index identifies the interface. */
int packet_wanted_cmp(const struct packet_wanted *a, const struct packet_wanted *b)
{
	int r = (a->port.nsid > b->port.nsid) - (a->port.nsid < b->port.nsid);

	if (r == 0)
		r = (a->port.ifindex > b->port.ifindex) - (a->port.ifindex < b->port.ifindex);
	if (r || a->port.ifindex)
		return r;
	r = cmp_numbers(a->netns.ino, b->netns.ino);
	if (r == 0)
		r = strcmp(a->netns.path, b->netns.path);
	return r ? r : strcmp(a->port.netdev, b->port.netdev);
}

bool packet_wanted_same(const struct packet_wanted *a, const struct packet_wanted *b)
{
	return packet_wanted_cmp(a, b) == 0 && a->xdp == b->xdp && a->port.flows == b->port.flows &&
	       a->netns.ino == b->netns.ino && a->netns.dev == b->netns.dev &&
	       strcmp(a->netns.path, b->netns.path) == 0;
}

/* Returns the rank of a source, lowest first: if several sources list an interface, the
 * configuration has precedence. */
static int precedence(enum packet_role role)
{
	static const int rank[] = {
		[PACKET_MIRROR] = 0, [PACKET_PORT] = 1, [PACKET_POD] = 2, [PACKET_SOFT_ROCE] = 3};

	return rank[role];
}

static int cmp(const void *a, const void *b)
{
	const struct packet_wanted *x = a, *y = b;
	int r = packet_wanted_cmp(x, y);

	return r ? r : precedence(x->port.role) - precedence(y->port.role);
}

static void keep_first_of_each(struct build *b)
{
	size_t n = 0;

	if (b->n)
		qsort(b->items, b->n, sizeof(*b->items), cmp);
	for (size_t i = 0; i < b->n; i++)
		if (n == 0 || packet_wanted_cmp(&b->items[n - 1], &b->items[i]) != 0)
			b->items[n++] = b->items[i];
	b->n = n;
}

int packet_plan_build(struct packet_plan *plan, const struct host *h, struct attach_list pods,
		      const struct options *o)
{
	struct build b = {.host = h, .pods = pods, .options = o};

	b.planned = calloc(pods.n + 1, sizeof(*b.planned));
	if (!b.planned)
		return -ENOMEM;
	add_configured(&b, &o->mirrors, PACKET_MIRROR);
	add_configured(&b, &o->packet_ports, PACKET_PORT);
	packet_add_devices(&b);
	add_pods(&b);
	free(b.planned);
	if (b.failed) {
		free(b.items);
		return -ENOMEM;
	}
	keep_first_of_each(&b);
	packet_plan_done(plan);
	*plan = (struct packet_plan){b.items, b.n};
	return 0;
}

void packet_plan_done(struct packet_plan *plan)
{
	free(plan->items);
	*plan = (struct packet_plan){0};
}
