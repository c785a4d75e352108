/* capabilities.c - the table of capabilities.h. What it says was measured by taking each away:
 * tests/lab/scenarios/privileges.sh. */
#include "capabilities.h"

#include <linux/capability.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"

#define CAP(name)    #name, name
/* kernel/bpf/syscall.c asks bpf_net_capable(), bpf_capable() and perfmon_capable(): each is content
 * with this one (linux/capability.h, linux/bpf.h). */
#define OR_SYS_ADMIN (UINT64_C(1) << CAP_SYS_ADMIN)

const struct capability_row capability_table[] = {
	{CAP(CAP_NET_ADMIN), USE_OBSERVE, false,
	 "netdevs in other network namespaces keep their last known state, and event buffers are small",
	 0},
	{CAP(CAP_NET_ADMIN), USE_BPF, false, "no packets are counted", OR_SYS_ADMIN},
	{CAP(CAP_NET_ADMIN), USE_ATTACH, true, "no device gets into a pod or back", 0},
	{CAP(CAP_NET_BROADCAST), USE_OBSERVE, false,
	 "what happens in other network namespaces is seen by rescans only", 0},
	{CAP(CAP_NET_RAW), USE_ATTACH, false,
	 "neighbours are not told of a pod's addresses and may send to who had them before", 0},
	{CAP(CAP_NET_BIND_SERVICE), USE_LOW_PORT, true, "nothing listens on a port below 1024", 0},
	{CAP(CAP_NET_BIND_SERVICE), USE_PLUGIN_PORTS, false, "no IPAM plugin that needs it is run",
	 0},
	{CAP(CAP_SYS_ADMIN), USE_INSIDE, false,
	 "packets in pods are not counted, and RDMA devices there are not seen where the kernel keeps them to their namespaces",
	 0},
	{CAP(CAP_SYS_ADMIN), USE_ATTACH, true, "pods' network namespaces cannot be entered", 0},
	{CAP(CAP_SYS_ADMIN), USE_IPAM, false, "no IPAM plugin is run", 0},
	{CAP(CAP_SYS_PTRACE), USE_BPF, false,
	 "who changed something is named by process, not by pod, once the process has ended", 0},
	{CAP(CAP_SYS_PTRACE), USE_ATTACH, true,
	 "namespaces that are gone and those that are hidden look alike, so nothing is attached or taken back",
	 0},
	{CAP(CAP_DAC_READ_SEARCH), USE_BPF, false,
	 "who changed something is named by process, not by pod, once the process has ended", 0},
	{CAP(CAP_DAC_READ_SEARCH), USE_ATTACH, false,
	 "a namespace that only a process without root holds open is not found, nor a device in it",
	 0},
	{CAP(CAP_MKNOD), USE_SOFT_ROCE, false, "soft-RoCE devices get no device nodes in pods", 0},
	{CAP(CAP_CHOWN), USE_SOFT_ROCE, false,
	 "device nodes that do not belong to root's group cannot be copied for soft-RoCE pods", 0},
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

/* Whether one of these uses has a need of it that nothing in `have` covers. */
static bool capabilities_is_wanted(unsigned capability, unsigned uses, uint64_t have)
{
	for (size_t i = 0; i < n_capability_rows; i++)
		if (capability_table[i].capability == capability &&
		    capability_table[i].use & uses && !(capability_table[i].covered & have))
			return true;
	return false;
}

uint64_t capabilities_least(unsigned uses)
{
	uint64_t all = capabilities_for(uses), least = 0;

	for (unsigned cap = 0; cap < 64; cap++)
		if (all & bit_of(cap) && capabilities_is_wanted(cap, uses, all))
			least |= bit_of(cap);
	return least;
}

/* The same clause is said once. */
static void add_clause(struct capability_lack *l, const struct capability_row *row)
{
	size_t n = strlen(l->stops);

	l->fatal |= row->fatal;
	if (!strstr(l->stops, row->stops))
		snprintf(l->stops + n, sizeof(l->stops) - n, "%s%s", n ? "; " : "", row->stops);
}

size_t capabilities_lacking(unsigned uses, uint64_t have,
			    struct capability_lack ret[CAPABILITY_LACKS_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < n_capability_rows; i++) {
		const struct capability_row *row = &capability_table[i];

		if (!(row->use & uses) || have & (bit_of(row->capability) | row->covered))
			continue;
		if (n == 0 || strcmp(ret[n - 1].name, row->name) != 0) {
			if (n == CAPABILITY_LACKS_MAX)
				break;
			ret[n++] = (struct capability_lack){.name = row->name};
		}
		add_clause(&ret[n - 1], row);
	}
	return n;
}
