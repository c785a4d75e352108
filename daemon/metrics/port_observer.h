/* SPDX-License-Identifier: Apache-2.0 */
/* port_observer.h - makes the input of the diagnosis, an observation of this node: from a sample's
 * readings, BPF's counters, the inventory and the kubelet's allocations. Pure.
 *
 * Names are looked up when the layout, the host, the holders or the settings change; otherwise a
 * sample is one pass over its readings. */
#pragma once

#include "burst.h"
#include "event_series.h"
#include "observation.h"
#include "packet_sample.h"
#include "qp_ports.h"
#include "resource_table.h"
#include "settings_table.h"

struct port_observer;

/* Inputs besides the sample. */
struct observer_inputs {
	const struct host *host;
	uint64_t host_generation;		/* identifies the version of `host` */
	const struct resource_table *resources; /* NULL: none */
	uint64_t unix_ms;			/* time of the sample */
	const struct qp_ports *qps;		/* NULL: queue pairs are unknown */
	const struct settings_table *settings;	/* NULL: not read */
	uint64_t settings_generation;		/* identifies the version of `settings` */
	const struct packet_sample *packets;	/* NULL: packets are not counted */
	const struct event_summary *events;	/* NULL: events are not counted */
	struct bursts *bursts; /* burst sampling of this sample's ports since the previous
				  observation; NULL: none */
};

struct port_observer *port_observer_new(void); /* NULL: out of memory */
void port_observer_free(struct port_observer *);
/* Makes the observation of a sample, borrowed until the next call. -ENOMEM: there is none for this
 * sample. */
int port_observer_observe(struct port_observer *, const struct sample *,
			  const struct observer_inputs *, struct observation *ret);
/* Returns the values of one port of the sample that was read again, NaN for values that it does not
 * have, and its last observation, borrowed until the next call. NULL: the port was not observed, or
 * is a whole device. */
const struct port_observation *port_observer_reread(struct port_observer *, const struct sample *,
						    size_t port, double ret[N_SERIES]);
