// SPDX-License-Identifier: Apache-2.0
#include "port_faults.h"

#include <math.h>

static const enum series series_of_fault[N_NIC_FAULTS] = {
	[NIC_FAULT_TX_TIMEOUT] = SERIES_TX_TIMEOUTS,
	[NIC_FAULT_HEALTH_REPORT] = SERIES_HEALTH_REPORTS,
};

/* Faults are those of the port's function, because two devices in different namespaces may have
 * the same name. False: unknown. soft-RoCE may be on any NIC. */
static bool port_faults_of(const struct event_summary *s, const struct port_observation *port,
			   uint64_t ret[N_NIC_FAULTS])
{
	return s && port->function[0] && !is_soft_roce(port) &&
	       bpf_tally_faults(&s->tally, port->function, ret);
}

void port_faults_set(struct port_observation *ports, size_t n_ports, const struct event_summary *s)
{
	for (size_t i = 0; i < n_ports; i++) {
		uint64_t faults[N_NIC_FAULTS];
		bool known = port_faults_of(s, &ports[i], faults);

		for (unsigned k = 0; k < N_NIC_FAULTS; k++)
			ports[i].value[series_of_fault[k]] = known && s->faults_watched[k]
								     ? (double)faults[k]
								     : (double)NAN;
	}
}
