/* SPDX-License-Identifier: Apache-2.0 */
/* port_faults.h - NIC faults from BPF as input of the diagnosis: hung transmit queues, errors
 * reported by drivers. Pure. */
#pragma once

#include "event_series.h"
#include "observation.h"

/* Sets the ports' values; unknown if no program watches for the fault. NULL: events are not
 * counted. */
void port_faults_set(struct port_observation *ports, size_t n_ports, const struct event_summary *);
