// SPDX-License-Identifier: Apache-2.0
#include "port_faults.h"

#include <math.h>
#include <string.h>

static const enum series series_of_fault[N_NIC_FAULTS] = {
	[NIC_FAULT_TX_TIMEOUT] = SERIES_TX_TIMEOUTS,
	[NIC_FAULT_HEALTH_REPORT] = SERIES_HEALTH_REPORTS,
};

/* Finds the faults of a device. Both lists are in the order of the host's devices, so the search
 * starts at *at. NULL: the device's faults are unknown. */
static const struct event_nic *port_faults_nic_of(const struct event_summary *s, const char *device,
						  unsigned *at)
{
	unsigned n = s ? s->n_nics : 0;

	for (unsigned i = 0; i < n; i++, *at = (*at + 1) % n)
		if (strcmp(s->nics[*at].device, device) == 0)
			return &s->nics[*at];
	return NULL;
}

void port_faults_set(struct port_observation *ports, size_t n_ports, const struct event_summary *s)
{
	unsigned at = 0;

	for (size_t i = 0; i < n_ports; i++) {
		const struct event_nic *nic = is_soft_roce(&ports[i])
						      ? NULL
						      : port_faults_nic_of(s, ports[i].device, &at);

		for (unsigned k = 0; k < N_NIC_FAULTS; k++)
			ports[i].value[series_of_fault[k]] = nic && s->faults_watched[k]
								     ? (double)nic->faults[k]
								     : (double)NAN;
	}
}
