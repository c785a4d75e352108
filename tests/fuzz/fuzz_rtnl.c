// SPDX-License-Identifier: Apache-2.0
/* Decoders of link, namespace, route and nexthop messages.
 *
 * proves: hw/netlink
 * when: core 2
 * when: turns 4
 * when: soak 120 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "datagram.h"
#include "netdev_state_read.h"
#include "rtnl.h"
#include "rtnl_addr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int on_message(const struct nlmsghdr *h, void *arg)
{
	struct rtnl_stats stats;
	struct rtnl_link link;
	struct rtnl_route route;
	struct rtnl_nexthop nexthop;
	struct netdev_state state = {.key = {1, 2}};
	char altnames[ALTNAMES_SIZE];
	int nsid;

	(void)arg;
	netdev_state_begin(&state);
	netdev_state_link(&state, h);
	netdev_state_napi(&state, h);
	for (size_t i = 0; i < 16; i++)
		netdev_state_answer(&state, i, h, 0);
	rtnl_decode_altnames(h, altnames);
	if (strnlen(altnames, sizeof(altnames)) == sizeof(altnames))
		abort();
	if (rtnl_decode_link(h, &link, &stats) == 0 &&
	    (link.netdev.ifindex <= 0 || !link.netdev.name[0] ||
	     strnlen(link.netdev.name, IFNAMSIZ) == IFNAMSIZ ||
	     link.netdev.altnames[ALTNAME_SIZE] != '\0' || link.netdev.addr_len > HW_ADDR_MAX))
		abort();
	rtnl_decode_nsid(h, &nsid);
	if (rtnl_decode_route(h, &route) == 0 && route.n_links > ROUTE_LINKS_MAX)
		abort();
	if (rtnl_decode_nexthop(h, &nexthop) == 0 && nexthop.n_group > ROUTE_LINKS_MAX)
		abort();
	rtnl_is_default_route(h);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	datagram_walk(data, n, on_message, NULL);
	return 0;
}
