// SPDX-License-Identifier: Apache-2.0
#include "bpf_tally.h"

#include <stdio.h>
#include <string.h>

#include "search.h"

static void add_cm(struct bpf_tally *t, const struct bpf_event_cm *e)
{
	if (e->passive) {
		t->accepted += e->what == BPF_CM_CONNECTED;
		return;
	}
	t->connections[e->what]++;
	if (e->what == BPF_CM_REJECTED)
		t->rejects[e->status >= 0 && e->status < BPF_REJECTS ? e->status
								     : BPF_REJECTS - 1]++;
	if (e->what == BPF_CM_CONNECTED && e->latency_ns) {
		t->connect_ns += e->latency_ns;
		t->n_connect++;
	}
}

static const struct bpf_nic *find_nic(const struct bpf_tally *t, const char *device)
{
	return find_first(t->nics, t->n_nics, i, strcmp(t->nics[i].device, device) == 0);
}

static void add_fault(struct bpf_tally *t, const char *device, enum nic_fault fault)
{
	struct bpf_nic *nic = (struct bpf_nic *)find_nic(t, device);

	if (!device[0])
		return;
	if (!nic && t->n_nics == BPF_NICS) {
		t->nics_full = true;
		return;
	}
	if (!nic) {
		nic = &t->nics[t->n_nics++];
		snprintf(nic->device, sizeof(nic->device), "%s", device);
	}
	nic->n[fault]++;
}

/* Counts a fault. An aborted recovery is not counted, because its fault was reported before. */
static void add_health(struct bpf_tally *t, const struct bpf_event_health *e)
{
	if (!e->aborted)
		add_fault(t, e->device, NIC_FAULT_HEALTH_REPORT);
}

void bpf_tally_add(struct bpf_tally *t, const struct bpf_event *e)
{
	if (e->kind == BPF_EVENT_CM)
		add_cm(t, (const struct bpf_event_cm *)e);
	else if (e->kind == BPF_EVENT_HEALTH)
		add_health(t, (const struct bpf_event_health *)e);
	else if (e->kind == BPF_EVENT_TX_TIMEOUT)
		add_fault(t, ((const struct bpf_event_tx_timeout *)e)->device,
			  NIC_FAULT_TX_TIMEOUT);
}

bool bpf_tally_faults(const struct bpf_tally *t, const char *device, uint64_t ret[N_NIC_FAULTS])
{
	static const struct bpf_nic none;
	const struct bpf_nic *nic = find_nic(t, device);

	if (!nic && t->nics_full)
		return false;
	memcpy(ret, nic ? nic->n : none.n, sizeof(none.n));
	return true;
}
