// SPDX-License-Identifier: Apache-2.0
/* Any text as the annotation of a pod: an error, or networks within their limits, which yield a
 * plan or an error with any pool.
 *
 * proves: daemon/config
 * when: core 2
 * when: turns 4
 * when: soak 120 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "network_text.h"
#include "networks.h"

static void check_plan(const struct net_plan *p)
{
	struct ip_prefix ip;
	char text[IP_TEXT_SIZE];

	if (p->n_ips > PLAN_IPS_MAX || p->n_routes > PLAN_ROUTES_MAX ||
	    strnlen(p->ipam, PLAN_IPAM_SIZE) == PLAN_IPAM_SIZE || p->vf.vlan > 4094 ||
	    p->vf.vlan_qos > 7 || (p->has_mac && (p->mac[0] & 1)))
		abort();
	if (p->ifname[0] && ifname_wrong(p->ifname))
		abort();
	for (size_t i = 0; i < p->n_ips; i++) {
		ip_prefix_text(&p->ips[i], text);
		if (!ip_prefix_parse(text, &ip) || !ip_same_address(&ip, &p->ips[i]) ||
		    ip.len != p->ips[i].len)
			abort();
	}
}

static void lay_over_pools(const struct network_request *q)
{
	const struct pool_network pools[] = {
		{.plan = {.vf = {.fields = VF_VLAN, .vlan = 5, .vlan_qos = 1, .vlan_proto = 1}},
		 .allow = ~0u},
		{.plan = {.kind = PLAN_MACVLAN}, .allow = ~0u},
		{.plan = {.kind = PLAN_IPVLAN, .mtu = 1500}, .allow = ~0u},
		{.plan = {.vf = {.fields = VF_VLAN, .vlan = 5, .vlan_qos = 1, .vlan_proto = 1}},
		 .subnets = {{.family = AF_INET, .addr = {10}, .len = 8}},
		 .n_subnets = 1},
	};

	for (size_t i = 0; i < sizeof(pools) / sizeof(pools[0]); i++) {
		struct net_plan plan;
		struct err e = {0};

		if (network_plan(&plan, &pools[i], q, 64, &e) < 0 && e.msg[0] == '\0')
			abort();
		check_plan(&plan);
		if (!pools[i].allow && memcmp(&plan.vf, &pools[i].plan.vf, sizeof(plan.vf)) != 0)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct network_requests list = {0};
	struct err e = {0};
	char *text = strndup((const char *)data, n);
	int r = networks_parse(&list, text, &e);

	if (r < 0 && (e.code != r || strncmp(e.msg, NETWORKS_KEY, strlen(NETWORKS_KEY)) != 0))
		abort();
	if (list.n > NETWORKS_MAX)
		abort();
	for (size_t i = 0; i < list.n; i++) {
		check_plan(&list.items[i].plan);
		lay_over_pools(&list.items[i]);
	}
	network_requests_done(&list);
	free(text);
	return 0;
}
