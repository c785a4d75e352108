/* SPDX-License-Identifier: Apache-2.0 */
/* relevance.h - decides which kernel events may have changed the inventory. Pure.
 *
 * A busy node has a constant stream of link events that do not concern RDMA (every pod's veth
 * pair). Only links of our functions, links that RDMA ports or our netdevs depend on, and links
 * that carry a default route trigger a scan. Of the route events, only default routes do. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "model.h"
#include "rtnl.h"

/* Returns the parts that this link event may have changed, as enum scan_part bits; 0 = no part of
 * the inventory. nsid: the namespace that the event came from. */
unsigned relevance_link(const struct host *, int nsid, const struct rtnl_link *);

struct relevance_tally {
	size_t events, malformed;
};

/* Called for each address event of a netdev, because GIDs are derived from addresses. */
typedef void relevance_address_fn(int nsid, int ifindex, void *arg);

/* Returns the enum scan_part bits of one datagram of rtnetlink events. Messages that cannot be
 * decoded are counted as malformed and skipped. */
unsigned relevance_route_datagram(const struct host *, int nsid, const void *buf, size_t n,
				  struct relevance_tally *, relevance_address_fn *, void *arg);
/* Returns the bits of one datagram of devlink events: only the states of health reporters
 * matter. */
unsigned relevance_devlink_datagram(uint16_t family, const void *buf, size_t n,
				    struct relevance_tally *);
/* Returns the bits of one datagram of RDMA netlink events. Unknown event types count as
 * relevant. */
unsigned relevance_rdma_datagram(const void *buf, size_t n, struct relevance_tally *);
