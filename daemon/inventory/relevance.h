/* relevance.h - which kernel events can have changed the picture of the host. Pure.
 *
 * A busy node sees links come and go all day that have nothing to do with RDMA (every pod's veth
 * pair); only links of our functions, links that RDMA ports or our netdevs hang on, and those that
 * carry a default route are worth a look; of routes, only default ones. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "model.h"
#include "rtnl.h"

/* What this link event can have changed, as enum scan_part bits; 0 = nothing that we show.
 * nsid: the namespace that the event came from. */
unsigned relevance_link(const struct host *, int nsid, const struct rtnl_link *);

struct relevance_tally {
	size_t events, malformed;
};

/* Addresses make GIDs: called for each address event of a netdev. */
typedef void relevance_address_fn(int nsid, int ifindex, void *arg);

/* The same over one datagram of rtnetlink events; what cannot be decoded is counted as malformed
 * and skipped. */
unsigned relevance_route_datagram(const struct host *, int nsid, const void *buf, size_t n,
				  struct relevance_tally *, relevance_address_fn *, void *arg);
/* Over one datagram of devlink events: only reporters' states matter. */
unsigned relevance_devlink_datagram(uint16_t family, const void *buf, size_t n,
				    struct relevance_tally *);
/* Over one datagram of RDMA netlink events. Events newer than our list count as relevant. */
unsigned relevance_rdma_datagram(const void *buf, size_t n, struct relevance_tally *);
