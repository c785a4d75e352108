// SPDX-License-Identifier: Apache-2.0
#include "observation.h"

#include <math.h>
#include <string.h>

void port_observation_init(struct port_observation *o)
{
	memset(o, 0, sizeof(*o));
	o->visible = true;
	o->port = 1;
	o->index = RDMA_INDEX_NONE;
	o->stalled_received_s = o->stalled_sent_s = (double)NAN;
	for (int i = 0; i < N_SERIES; i++)
		o->value[i] = (double)NAN;
}

size_t observed_port(const struct port_observation *ports, size_t n, const char *device,
		     uint32_t port, size_t hint)
{
	for (size_t i = 0; i < n; i++) {
		size_t at = (hint + i) % n;

		if ((!port || ports[at].port == port) && strcmp(ports[at].device, device) == 0)
			return at;
	}
	return SIZE_MAX;
}

bool is_soft_roce(const struct port_observation *o)
{
	return strcmp(o->driver, "rxe") == 0 || strcmp(o->driver, "rdma_rxe") == 0;
}
