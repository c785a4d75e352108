// SPDX-License-Identifier: Apache-2.0
/* capabilities.c - see capabilities.h. The contents of the table were measured by removing each
 * capability: tests/lab/scenarios/privileges.sh. */
#include "capabilities.h"

#include <linux/capability.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "search.h"

#define CAP(name)    #name, name
/* bpf_net_capable(), bpf_capable() and perfmon_capable(), which kernel/bpf/syscall.c calls, also
 * accept CAP_SYS_ADMIN (linux/capability.h, linux/bpf.h). */
#define OR_SYS_ADMIN (UINT64_C(1) << CAP_SYS_ADMIN)

const struct capability_row capability_table[] = {
	{CAP(CAP_NET_ADMIN), USE_OBSERVE, false,
	 "netdevs in other network namespaces keep their last known state, and event buffers are small",
	 0},
	{CAP(CAP_NET_ADMIN), USE_BPF, false, "no packets are counted", OR_SYS_ADMIN},
	{CAP(CAP_NET_ADMIN), USE_ATTACH, true, "no device can be attached to a pod or returned", 0},
	{CAP(CAP_NET_BROADCAST), USE_OBSERVE, false,
	 "changes in other network namespaces are found only by rescans", 0},
	{CAP(CAP_NET_RAW), USE_ATTACH, false,
	 "no gratuitous ARP or NA for a pod's addresses, so neighbours may send to the previous owner",
	 0},
	{CAP(CAP_NET_BIND_SERVICE), USE_LOW_PORT, true, "no TCP listener on a port below 1024", 0},
	{CAP(CAP_NET_BIND_SERVICE), USE_PLUGIN_PORTS, false,
	 "IPAM plugins that need CAP_NET_BIND_SERVICE are not run", 0},
	{CAP(CAP_SYS_ADMIN), USE_INSIDE, false,
	 "packets in pods are not counted, and in exclusive RDMA mode RDMA devices in pods are not listed",
	 0},
	{CAP(CAP_SYS_ADMIN), USE_ATTACH, true, "pods' network namespaces cannot be entered", 0},
	{CAP(CAP_SYS_ADMIN), USE_IPAM, false, "no IPAM plugin is run", 0},
	{CAP(CAP_SYS_PTRACE), USE_BPF, false,
	 "events name the process but not its pod if the process has already exited", 0},
	{CAP(CAP_SYS_PTRACE), USE_ATTACH, true,
	 "cannot tell a removed namespace from a hidden one, so no device is attached or returned",
	 0},
	{CAP(CAP_DAC_READ_SEARCH), USE_BPF, false,
	 "events name the process but not its pod if the process has already exited", 0},
	{CAP(CAP_DAC_READ_SEARCH), USE_ATTACH, false,
	 "namespaces pinned only by a non-root process, and the devices in them, are not found", 0},
	{CAP(CAP_MKNOD), USE_SOFT_ROCE, false, "soft-RoCE devices get no device nodes in pods", 0},
	{CAP(CAP_CHOWN), USE_SOFT_ROCE, false,
	 "soft-RoCE pods get no device nodes whose group is not root", 0},
	{CAP(CAP_SETPCAP), USE_IPAM, false, "no IPAM plugin is run", 0},
	{CAP(CAP_SETUID), USE_IPAM, false, "no IPAM plugin is run", 0},
	{CAP(CAP_BPF), USE_BPF, false, "no BPF program is loaded", OR_SYS_ADMIN},
	{CAP(CAP_PERFMON), USE_BPF, false, "no BPF program is loaded", OR_SYS_ADMIN},
};

const size_t n_capability_rows = ARRAY_SIZE(capability_table);

static uint64_t bit_of(unsigned capability)
{
	return UINT64_C(1) << capability;
}

uint64_t capabilities_for(unsigned uses)
{
	uint64_t set = 0;

	for (size_t i = 0; i < n_capability_rows; i++)
		if (capability_table[i].use & uses)
			set |= bit_of(capability_table[i].capability);
	return set;
}

/* True if one of these uses needs the capability, without a substitute in `have`. */
static bool capabilities_is_needed(unsigned capability, unsigned uses, uint64_t have)
{
	return any_of(n_capability_rows, i,
		      capability_table[i].capability == capability &&
			      capability_table[i].use & uses &&
			      !(capability_table[i].covered & have));
}

uint64_t capabilities_least(unsigned uses)
{
	uint64_t all = capabilities_for(uses), least = 0;

	for (unsigned cap = 0; cap < 64; cap++)
		if (all & bit_of(cap) && capabilities_is_needed(cap, uses, all))
			least |= bit_of(cap);
	return least;
}

/* Adds a clause, unless it was added already. */
static void add_clause(struct missing_capability *l, const struct capability_row *row)
{
	size_t n = strlen(l->stops);

	l->fatal |= row->fatal;
	if (!strstr(l->stops, row->stops))
		snprintf(l->stops + n, sizeof(l->stops) - n, "%s%s", n ? "; " : "", row->stops);
}

size_t capabilities_missing(unsigned uses, uint64_t have,
			    struct missing_capability ret[MISSING_CAPABILITIES_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < n_capability_rows; i++) {
		const struct capability_row *row = &capability_table[i];

		if (!(row->use & uses) || have & (bit_of(row->capability) | row->covered))
			continue;
		if (n == 0 || strcmp(ret[n - 1].name, row->name) != 0) {
			if (n == MISSING_CAPABILITIES_MAX)
				break;
			ret[n++] = (struct missing_capability){.name = row->name};
		}
		add_clause(&ret[n - 1], row);
	}
	return n;
}
