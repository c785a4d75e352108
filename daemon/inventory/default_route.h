/* SPDX-License-Identifier: Apache-2.0 */
/* default_route.h - the netdevs that carry the node's default routes. Pure.
 *
 * A default route uses a netdev and every netdev below it: the members of a bond, bridge or team,
 * and the parent of a VLAN or macvlan, at any depth. Only the host's network namespace counts. */
#pragma once

#include "host_index.h"

/* One entry per netdev of the host: the netdev whose default route uses it, or NULL. Allocated on
 * the heap; returns NULL when out of memory. */
const struct netdev **default_routes(const struct host_index *);
