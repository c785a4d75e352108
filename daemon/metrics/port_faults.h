/* port_faults.h - what BPF reports to diagnosis of NICs: transmit queues that hung, errors that
 * drivers reported. Pure. */
#pragma once

#include "event_series.h"
#include "observation.h"

/* Into the ports' values; unknown where no program watches. NULL: events are not counted. */
void port_faults_tell(struct port_observation *ports, size_t n_ports, const struct event_summary *);
