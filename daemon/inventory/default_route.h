/* default_route.h - through which netdevs does the node reach the rest of the world? Pure.
 *
 * A default route leaves through a netdev and everything below it: the members of a bond, bridge or
 * team, the netdev under a VLAN or macvlan, at any depth. Only the host's namespace counts. */
#pragma once

#include "host_index.h"

/* One entry per netdev of the host: the netdev whose default route leaves through it, NULL = none.
 * Heap; NULL when out of memory. */
const struct netdev **default_routes(const struct host_index *);
