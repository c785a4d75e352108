/* port_observer.h - what diagnosis is told of this node: a sample's readings, what BPF counts
 * beside them, and what the inventory and the kubelet's list say of the ports, as an observation.
 * Pure.
 *
 * Names are looked up when the layout, the host, the holders or the settings change; in between a
 * sample is a walk over its readings. */
#pragma once

#include "burst.h"
#include "event_series.h"
#include "observation.h"
#include "packet_sample.h"
#include "qp_ports.h"
#include "resource_table.h"
#include "settings_table.h"

struct port_observer;

/* What there is beside the sample. */
struct observer_scene {
	const struct host *host;
	uint64_t host_generation;		/* names the version of `host` */
	const struct resource_table *resources; /* NULL: none */
	uint64_t unix_ms;			/* of the sample */
	const struct qp_ports *qps;		/* NULL: nobody knows the queue pairs */
	const struct settings_table *settings;	/* NULL: nobody has read them */
	uint64_t settings_generation;		/* names the version of `settings` */
	const struct packet_sample *packets;	/* NULL: nobody counts packets */
	const struct event_summary *events;	/* NULL: nobody counts events */
	struct bursts *bursts; /* that were watched since the look before, of this sample's ports;
				  NULL: none */
};

struct port_observer *port_observer_new(void); /* NULL: out of memory */
void port_observer_free(struct port_observer *);
/* *ret is borrowed until the next call. -ENOMEM: nothing is seen this time. */
int port_observer_look(struct port_observer *, const struct sample *, const struct observer_scene *,
		       struct observation *ret);
/* One port of the sample, which has been read again since: its values, NaN for what it does not
 * have, and what was seen of it in the last look; borrowed until the next. NULL: it was not among
 * that one's, or stands for a whole device. */
const struct port_observation *port_observer_look_at(struct port_observer *, const struct sample *,
						     size_t port, double ret[N_SERIES]);
