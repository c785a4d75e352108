// SPDX-License-Identifier: Apache-2.0
#include "port_observer.h"

#include <errno.h>
#include <math.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "gid_places.h"
#include "host_index.h"
#include "number.h"
#include "port_faults.h"
#include "port_packets.h"
#include "search.h"

/* How long a pod is reported after its container's end. */
#define ENDED_MS     60000
/* Maximum number of label texts of a family whose series are cached. */
#define KNOWN_LABELS 64

/* The container that has a port's device exclusively, or had it recently. */
struct port_user {
	struct observed_pod pod;
	uint64_t ended_ms; /* 0 = it still has the device */
};

/* State of a port kept between observations. */
struct kept_port {
	struct port_user *user; /* owned; NULL: none */
	/* Pods that have slots of its device, if none has it exclusively; owned. */
	struct observed_pod *sharers;
	size_t n_sharers;
	struct gid_places gids;
};

/* The observed ports of a sampled port (itself, or all of its device), and the series of its
 * readings. */
struct port_span {
	uint32_t first, n;
	uint32_t series; /* index of its first reading in the observer's `series` */
	uint32_t at;	 /* number of readings seen so far in the current pass */
};

struct port_observer {
	bool prepared;
	uint64_t layout, host_generation, resources_generation, settings_generation;
	/* One for each port of the host's RDMA devices, then for functions that should have a
	 * device. */
	struct port_observation *ports;
	struct kept_port *kept_ports; /* parallel to ports */
	size_t n_ports;
	struct port_span *spans; /* parallel to the sample's ports */
	/* The series of each of the sample's readings, port by port; -1: not used by the
	 * diagnosis. */
	int16_t *series;
};

struct port_observer *port_observer_new(void)
{
	return calloc(1, sizeof(struct port_observer));
}

static void observer_done(struct port_observer *b)
{
	for (size_t i = 0; b->kept_ports && i < b->n_ports; i++) {
		gid_places_done(&b->kept_ports[i].gids);
		free(b->kept_ports[i].user);
		free(b->kept_ports[i].sharers);
	}
	free(b->ports);
	free(b->kept_ports);
	free(b->spans);
	free(b->series);
}

void port_observer_free(struct port_observer *b)
{
	if (!b)
		return;
	observer_done(b);
	free(b);
}

/* --- values that only change with the host ---------------------------------------------------- */

struct lookup {
	const struct observer_inputs *inputs;
	struct host_index index;
	const struct netdev **routes; /* default_routes() */
};

static const struct netdev *netdev_of(const struct lookup *l, const struct rdma_dev *dev,
				      const struct rdma_port *port)
{
	struct fn_parts parts;

	if (port->netdev_ifindex)
		return host_index_netdev(&l->index, port->netdev_nsid, port->netdev_ifindex);
	if (!dev->function[0])
		return NULL;
	parts = host_index_parts(&l->index, dev->function);
	return parts.n_netdevs == 1 ? part_netdev(&parts, 0) : NULL;
}

/* True if the carrier is off, but was on before: after several changes, it was on before the last
 * one. */
static bool had_carrier(const struct netdev *nd)
{
	return nd->carrier == CARRIER_OFF && nd->carrier_changes >= 2;
}

static void see_netdev(struct port_observation *o, const struct lookup *l, const struct netdev *nd)
{
	if (!nd)
		return;
	memcpy(o->netdev, nd->name, sizeof(o->netdev));
	o->management = l->routes[nd - l->inputs->host->netdevs] != NULL;
	o->admin_down = !(nd->flags & IFF_UP);
	o->was_active = had_carrier(nd);
}

/* True if another device of the host has a uverbs device. Then a device without one is faulty. */
static bool others_have_uverbs(const struct host *h)
{
	return any_of(h->n_rdma, i, h->rdma[i].nsid == NSID_HOST && h->rdma[i].uverbs[0]);
}

/* True if we see the host's device nodes. If no device has a node, we are in a container with its
 * own /dev. */
static bool sees_nodes(const struct host *h)
{
	for (size_t i = 0; i < h->n_rdma; i++) {
		const struct rdma_dev *d = &h->rdma[i];

		if (d->nsid == NSID_HOST &&
		    ((d->uverbs[0] && !d->no_uverbs_node) || (d->umad[0] && !d->no_umad_node)))
			return true;
	}
	return h->rdma_cm == RDMA_CM_THERE;
}

static void see_nodes(struct port_observation *o, const struct lookup *l,
		      const struct rdma_dev *dev)
{
	const struct host *h = l->inputs->host;
	bool seen = sees_nodes(h);

	if (dev->nsid != NSID_HOST)
		return;
	o->health.no_uverbs = dev->uverbs[0] ? dev->no_uverbs_node && seen : others_have_uverbs(h);
	o->health.no_umad = dev->no_umad_node && seen;
}

static void see_function(struct port_observation *o, const struct function *fn)
{
	if (!fn)
		return;
	memcpy(o->parent, fn->parent, sizeof(o->parent));
	memcpy(o->health.devlink_error, fn->devlink_error, sizeof(o->health.devlink_error));
	o->health.unreachable = fn->unreachable;
	o->link_disabled = fn->vf_link == VF_LINK_DISABLE;
}

static bool has_carrier(const struct lookup *l, const char *function)
{
	struct fn_parts parts = host_index_parts(&l->index, function);

	return any_of(parts.n_netdevs, i, part_netdev(&parts, i)->carrier == CARRIER_ON);
}

/* Marks a port that is down for another reason than its link: its pod ended, a process in the pod
 * moved the device or set it down, or the VF link state was set. A VF has the link of its PF, so
 * while the PF has a carrier, the link is up. A soft-RoCE device without its netdev is about to be
 * removed. */
static void explain_link_down(struct port_observation *o, const struct lookup *l,
			      const struct netdev *nd)
{
	if (o->state != PORT_DOWN)
		return;
	if (is_soft_roce(o) && !nd)
		o->visible = false;
	else if (o->parent[0] && has_carrier(l, o->parent))
		o->admin_down = true;
}

/* Size of GRH, UDP, BTH, the longest extended headers and ICRC, as subtracted by iboe_get_mtu()
 * (include/rdma/ib_addr.h). */
#define ROCE_HEADERS 96

static unsigned roce_mtu_of(unsigned bytes)
{
	unsigned mtu = 4096;

	while (mtu > bytes && mtu >= 256)
		mtu /= 2;
	return mtu >= 256 ? mtu : 0;
}

/* Derives the active MTU from the netdev's, as the driver does: verbs report it only to a process
 * that may open the device node. Some drivers leave room for the headers (mlx5, bnxt_re, qedr),
 * others do not. If this makes a difference, the result is used only for mlx5. 0 = unknown. */
static unsigned port_observer_derive_mtu(const struct port_observation *o, const struct netdev *nd)
{
	unsigned bytes = nd ? nd->mtu : 0;
	unsigned mtu = bytes > ROCE_HEADERS ? roce_mtu_of(bytes - ROCE_HEADERS) : 0;

	if (o->link_layer != LINK_ETHERNET)
		return 0;
	return mtu == roce_mtu_of(bytes) || strncmp(o->driver, "mlx5", strlen("mlx5")) == 0 ? mtu
											    : 0;
}

static void see_port(struct port_observation *o, const struct lookup *l, const struct rdma_dev *dev,
		     const struct rdma_port *port)
{
	const struct netdev *nd = netdev_of(l, dev, port);

	port_observation_init(o);
	memcpy(o->device, dev->name, sizeof(o->device));
	o->port = port->num;
	o->index = dev->index;
	memcpy(o->function, dev->function, sizeof(o->function));
	memcpy(o->driver, dev->driver, sizeof(o->driver));
	memcpy(o->netdev, port->netdev, sizeof(o->netdev));
	/* A device in an unreachable namespace keeps its last values. */
	o->visible = dev->nsid != NSID_ELSEWHERE;
	o->state = port->state;
	o->link_layer = port->link_layer;
	o->rate_bps = port->rate_bps;
	o->mtu = port->active_mtu ? port->active_mtu : port_observer_derive_mtu(o, nd);
	o->settings = l->inputs->settings ? settings_of(l->inputs->settings, dev->name, port->num)
					  : NULL;
	see_netdev(o, l, nd);
	see_nodes(o, l, dev);
	see_function(o, dev->function[0] ? host_index_function(&l->index, dev->function) : NULL);
	explain_link_down(o, l, nd);
}

/* True if another physical function with the same vendor and device id has an RDMA device. Then
 * this one should have one, too. */
static bool has_working_sibling(const struct host_index *index, const struct host *h,
				const struct function *fn)
{
	for (size_t i = 0; i < h->n_functions; i++) {
		const struct function *other = &h->functions[i];

		if (other->kind == FN_PF && other->vendor == fn->vendor &&
		    other->device == fn->device && host_index_own_parts(index, other).n_rdma > 0)
			return true;
	}
	return false;
}

/* True if the previous observation has an RDMA device on this physical function. */
static bool had_device(const struct port_observer *before, const char *function)
{
	return any_of(before->n_ports, i,
		      !before->ports[i].parent[0] &&
			      strcmp(before->ports[i].function, function) == 0);
}

/* True for a NIC that no driver accepted, or whose driver gave up. Not for VFs, which are often
 * left without a driver on purpose, nor for models of which no function had an RDMA device. A NIC
 * for user space has a driver. */
static bool is_driverless(const struct lookup *l, const struct port_observer *before,
			  const struct function *fn)
{
	const struct host *h = l->inputs->host;

	return fn->kind == FN_PF && !fn->driver[0] && fn->vendor &&
	       host_index_own_parts(&l->index, fn).n_rdma == 0 &&
	       (had_device(before, fn->id) || has_working_sibling(&l->index, h, fn));
}

/* True if the port is the first one of a physical function that is no longer on its bus. The
 * removal of virtual functions, of functions of containers, and of soft-RoCE devices is normal. A
 * device whose driver is unknown is ignored, too: a soft-RoCE device has no driver while it is
 * being deleted. */
static bool is_removed(const struct lookup *l, const struct port_observer *before, size_t i)
{
	const struct port_observation *o = &before->ports[i];
	const bool is_known = o->driver[0] || o->health.driverless;

	if (!o->function[0] || o->parent[0] || !is_known || is_soft_roce(o) ||
	    host_index_function(&l->index, o->function))
		return false;
	while (i-- > 0)
		if (strcmp(before->ports[i].function, o->function) == 0)
			return false;
	return true;
}

static size_t count_missing(const struct lookup *l, const struct port_observer *before)
{
	const struct host *h = l->inputs->host;
	size_t n = 0;

	for (size_t i = 0; i < h->n_functions; i++)
		n += is_driverless(l, before, &h->functions[i]);
	for (size_t i = 0; i < before->n_ports; i++)
		n += is_removed(l, before, i);
	return n;
}

/* Makes an observation in place of the ports of a missing device. */
static struct port_observation missing_device(const char *function)
{
	struct port_observation o;

	port_observation_init(&o);
	snprintf(o.device, sizeof(o.device), "%s", function);
	o.port = 1;
	snprintf(o.function, sizeof(o.function), "%s", function);
	o.health.driverless = true;
	return o;
}

static void see_missing(struct port_observation *ports, const struct lookup *l,
			const struct port_observer *before)
{
	const struct host *h = l->inputs->host;
	size_t n = 0;

	for (size_t i = 0; i < h->n_functions; i++) {
		if (!is_driverless(l, before, &h->functions[i]))
			continue;
		ports[n] = missing_device(h->functions[i].id);
		see_function(&ports[n], &h->functions[i]);
		ports[n++].health.driverless = true;
	}
	for (size_t i = 0; i < before->n_ports; i++) {
		if (!is_removed(l, before, i))
			continue;
		ports[n] = missing_device(before->ports[i].function);
		ports[n++].health.unreachable = true;
	}
}

static void see_ports(struct port_observer *b, const struct lookup *l,
		      const struct port_observer *before)
{
	const struct host *h = l->inputs->host;
	size_t n = 0;

	for (size_t i = 0; i < h->n_rdma; i++)
		for (unsigned k = 0; k < h->rdma[i].n_ports; k++)
			see_port(&b->ports[n++], l, &h->rdma[i], &h->rdma[i].ports[k]);
	see_missing(&b->ports[n], l, before);
}

/* --- holders ---------------------------------------------------------------------------------- */

/* Returns the pod that has the device; NULL: none is known, or out of memory. */
static struct port_user *find_user(const struct port_observation *o,
				   const struct resource_table *table)
{
	struct port_user *u;

	const struct pod_device *holder = table ? resource_table_holder(table, o->function,
									o->device)
						: NULL;

	u = holder && holder->pod[0] ? calloc(1, sizeof(*u)) : NULL;
	if (!u)
		return NULL;
	snprintf(u->pod.namespace, sizeof(u->pod.namespace), "%s", holder->namespace);
	snprintf(u->pod.name, sizeof(u->pod.name), "%s", holder->pod);
	return u;
}

/* Adds the pod, unless it is the same as one before: a pod may have several slots. */
static void add_sharer(struct kept_port *p, const struct pod_device *d)
{
	struct observed_pod *pod;

	if (any_of(p->n_sharers, i,
		   strcmp(p->sharers[i].name, d->pod) == 0 &&
			   strcmp(p->sharers[i].namespace, d->namespace) == 0))
		return;
	pod = array_push(p->sharers, p->n_sharers);
	if (!pod)
		return;
	snprintf(pod->namespace, sizeof(pod->namespace), "%s", d->namespace);
	snprintf(pod->name, sizeof(pod->name), "%s", d->pod);
}

static void find_sharers(struct kept_port *p, const struct port_observation *o,
			 const struct resource_table *table)
{
	for (size_t i = 0; table && !p->user && i < table->held.n; i++) {
		const struct pod_device *d = &table->held.devices[i];

		if (d->pod[0] && resource_table_is_slot(table, d, o->function, o->device))
			add_sharer(p, d);
	}
}

/* Keeps the previous user as ended, if the port has no user now. */
static void keep_user(struct kept_port *now, struct kept_port *before, uint64_t now_ms)
{
	if (now->user || !before->user)
		return;
	now->user = take_ptr(before->user);
	now->user->pod.ended = true;
	if (!now->user->ended_ms)
		now->user->ended_ms = now_ms;
}

static void port_observer_set_user(struct port_observation *o, struct kept_port *old,
				   uint64_t now_ms)
{
	const struct port_user *u = old->user;

	if (u && u->ended_ms && now_ms - u->ended_ms >= ENDED_MS)
		free(take_ptr(old->user));
	o->pods = old->user ? &old->user->pod : old->sharers;
	o->n_pods = old->user ? 1 : old->n_sharers;
}

/* --- series of the readings ------------------------------------------------------------------- */

static void find_spans(struct port_observer *b, const struct sample *s)
{
	size_t hint = 0;

	for (size_t i = 0; i < s->n_ports; i++) {
		const struct sampled_port *p = &s->ports[i];
		struct port_span *span = &b->spans[i];
		size_t at = observed_port(b->ports, b->n_ports, p->device, p->port,
					  p->port ? hint : 0);

		if (at == SIZE_MAX)
			continue;
		hint = at;
		span->first = (uint32_t)at;
		span->n = 1;
		if (p->port)
			memcpy(b->ports[at].bytes_source, p->bytes_source, sizeof(p->bytes_source));
		else /* the ports of a device are adjacent */
			while (at + span->n < b->n_ports &&
			       strcmp(b->ports[at + span->n].device, p->device) == 0)
				span->n++;
	}
}

/* Cache of the labels of one family that were looked up: similar ports share their label texts. */
struct known_labels {
	const char *labels[KNOWN_LABELS];
	int16_t series[KNOWN_LABELS];
	size_t n;
};

static int16_t series_of(struct known_labels *k, const struct reading *r)
{
	int16_t found;

	for (size_t i = 0; i < k->n; i++)
		if (k->labels[i] == r->labels)
			return k->series[i];
	found = (int16_t)series_find(r->family->name, r->labels);
	if (k->n < KNOWN_LABELS) {
		k->labels[k->n] = r->labels;
		k->series[k->n++] = found;
	}
	return found;
}

/* Sets the index of each port's first reading. */
static void count_readings(struct port_observer *b, const struct sample *s)
{
	struct reading_pos pos = {0};
	struct reading r;
	uint32_t first = 0;

	while (sample_next(s, &pos, &r))
		b->spans[r.port].at++;
	for (size_t i = 0; i < s->n_ports; i++) {
		b->spans[i].series = first;
		first += b->spans[i].at;
	}
}

static void rewind_readings(struct port_observer *b, const struct sample *s)
{
	for (size_t i = 0; i < s->n_ports; i++)
		b->spans[i].at = 0;
}

/* Returns the element for the next reading of the reading's port. */
static int16_t *next_series(struct port_observer *b, const struct reading *r)
{
	struct port_span *span = &b->spans[r->port];

	return &b->series[span->series + span->at++];
}

static void find_series(struct port_observer *b, const struct sample *s)
{
	static const struct family none;
	const struct family *family = &none;
	struct known_labels known = {.n = 0};
	struct reading_pos pos = {0};
	struct reading r;

	count_readings(b, s);
	rewind_readings(b, s);
	while (sample_next(s, &pos, &r)) {
		if (r.family != family)
			known.n = 0;
		family = r.family;
		*next_series(b, &r) = series_of(&known, &r);
	}
}

/* --- preparing -------------------------------------------------------------------------------- */

static uint64_t port_observer_generation_of(const struct resource_table *table)
{
	return table ? table->generation : 0;
}

static bool port_observer_is_current(const struct port_observer *b, const struct sample *s,
				     const struct observer_inputs *inputs)
{
	return b->prepared && b->layout == s->layout &&
	       b->host_generation == inputs->host_generation &&
	       b->resources_generation == port_observer_generation_of(inputs->resources) &&
	       b->settings_generation == inputs->settings_generation;
}

/* Allocates zeroed arrays for ports and readings. False: out of memory, *b is unchanged. */
static bool port_observer_make_room(struct port_observer *b, size_t n_ports, const struct sample *s)
{
	struct port_observer room = {
		.ports = calloc(n_ports + 1, sizeof(*b->ports)),
		.kept_ports = calloc(n_ports + 1, sizeof(*b->kept_ports)),
		.spans = calloc(s->n_ports + 1, sizeof(*b->spans)),
		.series = calloc(s->n_readings + 1, sizeof(*b->series)),
	};

	if (!room.ports || !room.kept_ports || !room.spans || !room.series) {
		observer_done(&room);
		return false;
	}
	room.n_ports = n_ports;
	*b = room;
	return true;
}

/* Copies the holders and GID places from the previous observer. */
static void keep_ports(struct port_observer *b, struct port_observer *before,
		       const struct lookup *l, uint64_t now_ms)
{
	for (size_t i = 0; i < b->n_ports; i++) {
		size_t at = observed_port(before->ports, before->n_ports, b->ports[i].device,
					  b->ports[i].port, i);

		b->kept_ports[i].user = find_user(&b->ports[i], l->inputs->resources);
		find_sharers(&b->kept_ports[i], &b->ports[i], l->inputs->resources);
		if (at == SIZE_MAX)
			continue;
		keep_user(&b->kept_ports[i], &before->kept_ports[at], now_ms);
		b->kept_ports[i].gids = before->kept_ports[at].gids;
		before->kept_ports[at].gids = (struct gid_places){0};
	}
}

static void see_gids(struct port_observer *b, const struct host *h, uint64_t now_ms)
{
	size_t n = 0;

	for (size_t i = 0; i < h->n_rdma; i++)
		for (unsigned k = 0; k < h->rdma[i].n_ports; k++)
			gid_places_see(&b->kept_ports[n++].gids, &h->rdma[i].ports[k], now_ms);
}

static int look_up(struct lookup *l, const struct observer_inputs *inputs)
{
	*l = (struct lookup){.inputs = inputs};
	if (host_index_init(&l->index, inputs->host) < 0)
		return -ENOMEM;
	l->routes = default_routes(&l->index);
	if (l->routes)
		return 0;
	host_index_done(&l->index);
	return -ENOMEM;
}

static size_t count_ports(const struct host *h)
{
	size_t n = 0;

	for (size_t i = 0; i < h->n_rdma; i++)
		n += h->rdma[i].n_ports;
	return n;
}

static int observer_prepare(struct port_observer *b, const struct sample *s,
			    const struct observer_inputs *inputs)
{
	struct port_observer before = *b;
	struct lookup l;

	if (look_up(&l, inputs) < 0)
		return -ENOMEM;
	if (port_observer_make_room(b, count_ports(inputs->host) + count_missing(&l, &before), s)) {
		see_ports(b, &l, &before);
		keep_ports(b, &before, &l, s->taken_ms);
		see_gids(b, inputs->host, s->taken_ms);
		find_spans(b, s);
		find_series(b, s);
		b->layout = s->layout;
		b->host_generation = inputs->host_generation;
		b->resources_generation = port_observer_generation_of(inputs->resources);
		b->settings_generation = inputs->settings_generation;
		b->prepared = true;
		observer_done(&before);
	} else {
		b->prepared = false;
	}
	host_index_done(&l.index);
	free(l.routes);
	return b->prepared ? 0 : -ENOMEM;
}

/* --- a sample --------------------------------------------------------------------------------- */

static double reading_value(const struct reading *r)
{
	return r->state == READING_OK ? number_in_base_unit(r->value, r->unit) : (double)NAN;
}

static void take_readings(struct port_observer *b, const struct sample *s)
{
	struct reading_pos pos = {0};
	struct reading r;

	rewind_readings(b, s);
	while (sample_next(s, &pos, &r)) {
		const struct port_span *span = &b->spans[r.port];
		int series = *next_series(b, &r);

		for (uint32_t k = 0; series >= 0 && k < span->n; k++)
			b->ports[span->first + k].value[series] = reading_value(&r);
	}
}

const struct port_observation *port_observer_reread(struct port_observer *b, const struct sample *s,
						    size_t port, double ret[N_SERIES])
{
	struct reading_pos pos = {.port = port, .one_port = true};
	struct reading r;

	if (!b->prepared || b->layout != s->layout || b->spans[port].n != 1)
		return NULL;
	for (int i = 0; i < N_SERIES; i++)
		ret[i] = (double)NAN;
	b->spans[port].at = 0;
	while (sample_next(s, &pos, &r)) {
		int series = *next_series(b, &r);

		if (series >= 0)
			ret[series] = reading_value(&r);
	}
	return &b->ports[b->spans[port].first];
}

/* Ignores rxe's counter of link-downs: rxe also counts each move of its netdev, possibly before the
 * inventory detects the move. Only the port's state is used. */
static void forget_moves(struct port_observer *b)
{
	for (size_t i = 0; i < b->n_ports; i++)
		if (is_soft_roce(&b->ports[i]))
			b->ports[i].value[SERIES_LINK_DOWN] = (double)NAN;
}

static void take_queue_pairs(struct port_observer *b, const struct qp_ports *qps)
{
	for (size_t i = 0; i < b->n_ports; i++) {
		struct port_observation *o = &b->ports[i];
		const struct observed_qps *found = qps ? qp_ports_find(qps, o->device, o->port)
						       : NULL;

		o->qps = found ? *found : (struct observed_qps){0};
	}
}

/* Adds the results of burst sampling. */
static void take_stalled(struct port_observer *b, const struct sample *s, struct bursts *bursts)
{
	for (size_t i = 0; i < s->n_ports; i++) {
		struct port_observation *o = &b->ports[b->spans[i].first];

		if (b->spans[i].n != 1 || !s->ports[i].port)
			continue;
		o->stalled_received_s = bursts_take_stalled(bursts, i, BURST_PAUSE_RECEIVED);
		o->stalled_sent_s = bursts_take_stalled(bursts, i, BURST_PAUSE_SENT);
	}
}

int port_observer_observe(struct port_observer *b, const struct sample *s,
			  const struct observer_inputs *inputs, struct observation *ret)
{
	if (!port_observer_is_current(b, s, inputs) && observer_prepare(b, s, inputs) < 0)
		return -ENOMEM;
	port_packets_set(b->ports, b->n_ports, inputs->packets, inputs->events);
	port_faults_set(b->ports, b->n_ports, inputs->events);
	take_readings(b, s);
	forget_moves(b);
	take_queue_pairs(b, inputs->qps);
	if (inputs->bursts)
		take_stalled(b, s, inputs->bursts);
	for (size_t i = 0; i < b->n_ports; i++) {
		port_observer_set_user(&b->ports[i], &b->kept_ports[i], s->taken_ms);
		b->ports[i].gid_moved = gid_places_moved(&b->kept_ports[i].gids, s->taken_ms);
	}
	*ret = (struct observation){.now_ms = s->taken_ms,
				    .unix_ms = inputs->unix_ms,
				    .ports = b->ports,
				    .n_ports = b->n_ports};
	memcpy(ret->sources, s->sources, sizeof(ret->sources));
	return 0;
}
