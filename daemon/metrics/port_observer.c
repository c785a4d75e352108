#include "port_observer.h"

#include <errno.h>
#include <math.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "default_route.h"
#include "gid_places.h"
#include "port_faults.h"
#include "port_packets.h"

/* For so long after its container's end a pod is still told of. */
#define ENDED_MS     60000
/* Of one family that are looked up once. */
#define KNOWN_LABELS 64

/* Who has a port's device to itself, or had it a moment ago. */
struct port_user {
	struct observed_pod pod; /* name "" = nobody */
	uint64_t ended_ms;	 /* 0 = it has it still */
};

/* What has to be remembered of a port beyond one look. */
struct port_past {
	struct port_user user;
	struct gid_places gids;
};

/* The observed ports that a sampled one speaks of, itself or all of its device, and what its
 * readings are. */
struct port_span {
	uint32_t first, n;
	uint32_t series; /* of its first reading, among the observer's */
	uint32_t at;	 /* while readings are walked: how many of them came */
};

struct port_observer {
	bool prepared;
	uint64_t layout, host_generation, resources_generation, settings_generation;
	/* One for each port of the host's RDMA devices, then the functions that are to have one. */
	struct port_observation *ports;
	struct port_past *pasts; /* of each */
	size_t n_ports;
	struct port_span *spans; /* of the sample's ports */
	/* Of the sample's readings, port by port; -1: diagnosis does not read it. */
	int16_t *series;
};

struct port_observer *port_observer_new(void)
{
	return calloc(1, sizeof(struct port_observer));
}

static void observer_done(struct port_observer *b)
{
	for (size_t i = 0; i < b->n_ports; i++)
		gid_places_done(&b->pasts[i].gids);
	free(b->ports);
	free(b->pasts);
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

/* --- what only the host changes --------------------------------------------------------------- */

struct look {
	const struct observer_scene *scene;
	struct host_index index;
	const struct netdev **routes; /* default_routes() */
};

static const struct netdev *netdev_of(const struct look *l, const struct rdma_dev *dev,
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

/* Of changes that end without a carrier the one before the last was to one. */
static bool had_carrier(const struct netdev *nd)
{
	return nd->carrier == CARRIER_OFF && nd->carrier_changes >= 2;
}

static void see_netdev(struct port_observation *o, const struct look *l, const struct netdev *nd)
{
	if (!nd)
		return;
	memcpy(o->netdev, nd->name, sizeof(o->netdev));
	o->management = l->routes[nd - l->scene->host->netdevs] != NULL;
	o->admin_down = !(nd->flags & IFF_UP);
	o->was_active = had_carrier(nd);
}

/* If another device of the host has a uverbs device, one without it is at fault. */
static bool others_have_uverbs(const struct host *h)
{
	for (size_t i = 0; i < h->n_rdma; i++)
		if (h->rdma[i].nsid == NSID_HOST && h->rdma[i].uverbs[0])
			return true;
	return false;
}

/* With a /dev of its own a container sees no node of any device; the host's are unknown then. */
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

static void see_nodes(struct port_observation *o, const struct look *l, const struct rdma_dev *dev)
{
	const struct host *h = l->scene->host;
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
}

static bool has_carrier(const struct look *l, const char *function)
{
	struct fn_parts parts = host_index_parts(&l->index, function);

	for (size_t i = 0; i < parts.n_netdevs; i++)
		if (part_netdev(&parts, i)->carrier == CARRIER_ON)
			return true;
	return false;
}

/* A pod that ends, and whoever moves its device or sets it down there, takes a port down, too. The
 * link is the PF's: while that has a carrier, it is no link that went down. A soft-RoCE device
 * without its netdev is about to be gone. */
static void see_who_took_it_down(struct port_observation *o, const struct look *l,
				 const struct netdev *nd)
{
	if (o->state != PORT_DOWN)
		return;
	if (is_soft_roce(o) && !nd)
		o->visible = false;
	else if (o->parent[0] && has_carrier(l, o->parent))
		o->admin_down = true;
}

static void see_port(struct port_observation *o, const struct look *l, const struct rdma_dev *dev,
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
	/* What has gone where we cannot look keeps its last values. */
	o->visible = dev->nsid != NSID_ELSEWHERE;
	o->state = port->state;
	o->link_layer = port->link_layer;
	o->rate_bps = port->rate_bps;
	o->mtu = port->active_mtu;
	o->settings = l->scene->settings ? settings_of(l->scene->settings, dev->name, port->num)
					 : NULL;
	see_netdev(o, l, nd);
	see_nodes(o, l, dev);
	see_function(o, dev->function[0] ? host_index_function(&l->index, dev->function) : NULL);
	see_who_took_it_down(o, l, nd);
}

/* Another physical function with the same chip has an RDMA device: so was this one to have. */
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

/* The observer has seen an RDMA device on this physical function. */
static bool had_device(const struct port_observer *before, const char *function)
{
	for (size_t i = 0; i < before->n_ports; i++)
		if (!before->ports[i].parent[0] && strcmp(before->ports[i].function, function) == 0)
			return true;
	return false;
}

/* A NIC that no driver took, or that its driver gave up. One that was handed to user space has a
 * driver, VFs are often left without on purpose, and of unknown chips nothing can be said. */
static bool is_driverless(const struct look *l, const struct port_observer *before,
			  const struct function *fn)
{
	const struct host *h = l->scene->host;

	return fn->kind == FN_PF && !fn->driver[0] && fn->vendor &&
	       host_index_own_parts(&l->index, fn).n_rdma == 0 &&
	       (had_device(before, fn->id) || has_working_sibling(&l->index, h, fn));
}

/* The first port of a physical function that is not on its bus any more. Virtual functions, those
 * of containers and soft-RoCE devices come and go. */
static bool is_removed(const struct look *l, const struct port_observer *before, size_t i)
{
	const struct port_observation *o = &before->ports[i];

	if (!o->function[0] || o->parent[0] || is_soft_roce(o) ||
	    host_index_function(&l->index, o->function))
		return false;
	while (i-- > 0)
		if (strcmp(before->ports[i].function, o->function) == 0)
			return false;
	return true;
}

static size_t count_lost(const struct look *l, const struct port_observer *before)
{
	const struct host *h = l->scene->host;
	size_t n = 0;

	for (size_t i = 0; i < h->n_functions; i++)
		n += is_driverless(l, before, &h->functions[i]);
	for (size_t i = 0; i < before->n_ports; i++)
		n += is_removed(l, before, i);
	return n;
}

/* In place of the ports that it does not have. */
static struct port_observation lost(const char *function)
{
	struct port_observation o;

	port_observation_init(&o);
	snprintf(o.device, sizeof(o.device), "%s", function);
	o.port = 1;
	snprintf(o.function, sizeof(o.function), "%s", function);
	o.health.driverless = true;
	return o;
}

static void see_lost(struct port_observation *ports, const struct look *l,
		     const struct port_observer *before)
{
	const struct host *h = l->scene->host;
	size_t n = 0;

	for (size_t i = 0; i < h->n_functions; i++) {
		if (!is_driverless(l, before, &h->functions[i]))
			continue;
		ports[n] = lost(h->functions[i].id);
		see_function(&ports[n], &h->functions[i]);
		ports[n++].health.driverless = true;
	}
	for (size_t i = 0; i < before->n_ports; i++) {
		if (!is_removed(l, before, i))
			continue;
		ports[n] = lost(before->ports[i].function);
		ports[n++].health.unreachable = true;
	}
}

static void see_ports(struct port_observer *b, const struct look *l,
		      const struct port_observer *before)
{
	const struct host *h = l->scene->host;
	size_t n = 0;

	for (size_t i = 0; i < h->n_rdma; i++)
		for (unsigned k = 0; k < h->rdma[i].n_ports; k++)
			see_port(&b->ports[n++], l, &h->rdma[i], &h->rdma[i].ports[k]);
	see_lost(&b->ports[n], l, before);
}

/* --- who uses them ---------------------------------------------------------------------------- */

static void see_user(struct port_user *u, const struct port_observation *o,
		     const struct resource_table *table)
{
	const struct pod_device *holder = table ? resource_table_holder(table, o->function,
									o->device)
						: NULL;

	if (!holder || !holder->pod[0])
		return;
	snprintf(u->pod.namespace, sizeof(u->pod.namespace), "%s", holder->namespace);
	snprintf(u->pod.name, sizeof(u->pod.name), "%s", holder->pod);
}

/* Whoever does not have it any more had it until now. */
static void keep_user(struct port_user *now, const struct port_user *before, uint64_t now_ms)
{
	if (now->pod.name[0] || !before->pod.name[0])
		return;
	*now = *before;
	now->pod.ended = true;
	if (!now->ended_ms)
		now->ended_ms = now_ms;
}

static void tell_user(struct port_observation *o, struct port_user *u, uint64_t now_ms)
{
	if (u->ended_ms && now_ms - u->ended_ms >= ENDED_MS)
		*u = (struct port_user){0};
	o->pods = &u->pod;
	o->n_pods = u->pod.name[0] != '\0';
}

/* --- what the readings are -------------------------------------------------------------------- */

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
		else /* the ports of a device stand together */
			while (at + span->n < b->n_ports &&
			       strcmp(b->ports[at + span->n].device, p->device) == 0)
				span->n++;
	}
}

/* The labels of one family: ports that are alike share their texts. */
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

/* Where the readings of each port begin. */
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

/* Of the readings of a port that have not come yet. */
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
				     const struct observer_scene *scene)
{
	return b->prepared && b->layout == s->layout &&
	       b->host_generation == scene->host_generation &&
	       b->resources_generation == port_observer_generation_of(scene->resources) &&
	       b->settings_generation == scene->settings_generation;
}

/* Empty arrays for all that is to be seen. False: out of memory, and *b is as it was. */
static bool port_observer_make_room(struct port_observer *b, size_t n_ports, const struct sample *s)
{
	struct port_observer room = {
		.ports = calloc(n_ports + 1, sizeof(*b->ports)),
		.pasts = calloc(n_ports + 1, sizeof(*b->pasts)),
		.spans = calloc(s->n_ports + 1, sizeof(*b->spans)),
		.series = calloc(s->n_readings + 1, sizeof(*b->series)),
	};

	if (!room.ports || !room.pasts || !room.spans || !room.series) {
		observer_done(&room);
		return false;
	}
	room.n_ports = n_ports;
	*b = room;
	return true;
}

/* Whoever had the port, and where its GIDs stood, as the observer before knew it. */
static void see_pasts(struct port_observer *b, struct port_observer *before, const struct look *l,
		      uint64_t now_ms)
{
	for (size_t i = 0; i < b->n_ports; i++) {
		size_t at = observed_port(before->ports, before->n_ports, b->ports[i].device,
					  b->ports[i].port, i);

		see_user(&b->pasts[i].user, &b->ports[i], l->scene->resources);
		if (at == SIZE_MAX)
			continue;
		keep_user(&b->pasts[i].user, &before->pasts[at].user, now_ms);
		b->pasts[i].gids = before->pasts[at].gids;
		before->pasts[at].gids = (struct gid_places){0};
	}
}

static void see_gids(struct port_observer *b, const struct host *h, uint64_t now_ms)
{
	size_t n = 0;

	for (size_t i = 0; i < h->n_rdma; i++)
		for (unsigned k = 0; k < h->rdma[i].n_ports; k++)
			gid_places_see(&b->pasts[n++].gids, &h->rdma[i].ports[k], now_ms);
}

static int look_up(struct look *l, const struct observer_scene *scene)
{
	*l = (struct look){.scene = scene};
	if (host_index_init(&l->index, scene->host) < 0)
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
			    const struct observer_scene *scene)
{
	struct port_observer before = *b;
	struct look l;

	if (look_up(&l, scene) < 0)
		return -ENOMEM;
	if (port_observer_make_room(b, count_ports(scene->host) + count_lost(&l, &before), s)) {
		see_ports(b, &l, &before);
		see_pasts(b, &before, &l, s->taken_ms);
		see_gids(b, scene->host, s->taken_ms);
		find_spans(b, s);
		find_series(b, s);
		b->layout = s->layout;
		b->host_generation = scene->host_generation;
		b->resources_generation = port_observer_generation_of(scene->resources);
		b->settings_generation = scene->settings_generation;
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

/* In base units, as the page has it. */
static double reading_value(const struct reading *r)
{
	if (r->state != READING_OK)
		return (double)NAN;
	switch (r->unit) {
	case UNIT_MICROSECONDS:
		return (double)r->value / 1e6;
	case UNIT_WORDS:
		return (double)r->value * 4;
	case UNIT_PERCENT:
		return (double)r->value / 100;
	case UNIT_BITS:
		return (double)r->value / 8;
	case UNIT_SIGNED:
		return (double)(int64_t)r->value;
	case UNIT_ONE:
		break;
	}
	return (double)r->value;
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

const struct port_observation *port_observer_look_at(struct port_observer *b,
						     const struct sample *s, size_t port,
						     double ret[N_SERIES])
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

/* rxe counts each move of its netdev as a link that went down, and its counter may be read before
 * the inventory knows of the move: the state alone tells. */
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

/* What was seen between the samples. */
static void take_stood(struct port_observer *b, const struct sample *s, struct bursts *bursts)
{
	for (size_t i = 0; i < s->n_ports; i++) {
		struct port_observation *o = &b->ports[b->spans[i].first];

		if (b->spans[i].n != 1 || !s->ports[i].port)
			continue;
		o->stood_received_s = bursts_take_stood(bursts, i, BURST_PAUSE_RECEIVED);
		o->stood_sent_s = bursts_take_stood(bursts, i, BURST_PAUSE_SENT);
	}
}

int port_observer_look(struct port_observer *b, const struct sample *s,
		       const struct observer_scene *scene, struct observation *ret)
{
	if (!port_observer_is_current(b, s, scene) && observer_prepare(b, s, scene) < 0)
		return -ENOMEM;
	port_packets_tell(b->ports, b->n_ports, scene->packets, scene->events);
	port_faults_tell(b->ports, b->n_ports, scene->events);
	take_readings(b, s);
	forget_moves(b);
	take_queue_pairs(b, scene->qps);
	if (scene->bursts)
		take_stood(b, s, scene->bursts);
	for (size_t i = 0; i < b->n_ports; i++) {
		tell_user(&b->ports[i], &b->pasts[i].user, s->taken_ms);
		b->ports[i].gid_moved = gid_places_moved(&b->pasts[i].gids, s->taken_ms);
	}
	*ret = (struct observation){.now_ms = s->taken_ms,
				    .unix_ms = scene->unix_ms,
				    .ports = b->ports,
				    .n_ports = b->n_ports};
	memcpy(ret->sources, s->sources, sizeof(ret->sources));
	return 0;
}
