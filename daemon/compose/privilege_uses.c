// SPDX-License-Identifier: Apache-2.0
#include "privilege_uses.h"

#include "capabilities.h"
#include "listen_address.h"
#include "log.h"
#include "privileges.h"
#include "syscalls.h"

#define LOW_PORTS_END 1024

static unsigned uses_of_options(const struct options *o)
{
	struct listen_address at = {0};
	bool low = o->listen[0] && listen_address_parse(o->listen, &at) && at.port > 0 &&
		   at.port < LOW_PORTS_END;

	return (o->unprivileged ? 0 : USE_OBSERVE | USE_INSIDE) |
	       (options_want_bpf(o) ? USE_BPF : 0) | (low ? USE_LOW_PORT : 0);
}

unsigned privilege_uses_possible(const struct options *o)
{
	return uses_of_options(o) |
	       (options_change_nothing(o) || o->unprivileged
			? 0
			: USE_ATTACH | USE_SOFT_ROCE | USE_IPAM | USE_PLUGIN_PORTS);
}

static unsigned uses_of_network(const struct pool_network *n)
{
	return USE_ATTACH | (n->plan.soft_roce ? USE_SOFT_ROCE : 0) |
	       (n->plan.ipam[0] ? USE_IPAM : 0) |
	       (strstr(n->plan.ipam, "\"NET_BIND_SERVICE\"") ? USE_PLUGIN_PORTS : 0);
}

unsigned privilege_uses_now(const struct options *o, const struct pool_config *pools)
{
	unsigned uses = uses_of_options(o);

	for (size_t i = 0; i < pools->n_pools && !options_change_nothing(o); i++)
		if (pools->pools[i].network)
			uses |= uses_of_network(pools->pools[i].network);
	return uses;
}

unsigned privilege_calls_possible(const struct options *o)
{
	return CALLS_ALWAYS | (options_want_bpf(o) ? CALLS_BPF : 0) |
	       (options_change_nothing(o) ? 0 : CALLS_ATTACH);
}

void privilege_uses_reduce(const struct options *o)
{
	uint64_t keep = capabilities_for(privilege_uses_possible(o));
	struct err e = {0};

	if (o->unprivileged)
		log_info("privileges", 0,
			 "unprivileged: no BPF, no events of other network namespaces");
	if (privileges_drop_capabilities(keep, &e) < 0)
		log_warn("privileges", 0, "%s, going on with more privileges than needed", e.msg);
	if (privileges_filter_calls(privilege_calls_possible(o), (enum seccomp_mode)o->seccomp,
				    &e) < 0)
		log_warn("privileges", 0,
			 "cannot filter system calls: %s, going on without a filter", e.msg);
}
