/* Link, namespace, route and nexthop messages. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "datagram.h"
#include "rtnl.h"
#include "rtnl_route.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int on_message(const struct nlmsghdr *h, void *arg)
{
	struct rtnl_stats stats;
	struct rtnl_link link;
	struct rtnl_route route;
	struct rtnl_nexthop nexthop;
	int nsid;

	(void)arg;
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
