/* SPDX-License-Identifier: Apache-2.0 */
/* rtnl_addr.h - addresses and routes: sets and lists those of one link, and lists the routes and
 * nexthops of all links. Pure.
 *
 * Requests are NULL when out of memory, else the caller frees with nlmsg_free(). Wire facts:
 * linux/include/uapi/linux/if_addr.h, rtnetlink.h; inet_rtm_newaddr() in linux/net/ipv4/devinet.c,
 * inet6_rtm_newaddr() in linux/net/ipv6/addrconf.c, rtm_to_fib_config() in
 * linux/net/ipv4/fib_frontend.c, rtm_to_fib6_config() in linux/net/ipv6/route.c. */
#pragma once

#include <netlink/msg.h>
#include <stdbool.h>
#include <stdint.h>

#include "attachment.h"

/* Adds an address. The kernel answers -EEXIST if the address exists. */
struct nl_msg *rtnl_new_addr(int ifindex, const struct ip_prefix *);
/* Adds a route to the main table. The kernel answers -EEXIST if there is a route to the same
 * destination with the same priority, even through another link. */
struct nl_msg *rtnl_new_route(int ifindex, const struct net_route *);

/* List the addresses or the routes of one link. Kernels without strict checking (before 4.20)
 * return those of all links. */
struct nl_msg *rtnl_dump_addrs(int ifindex);
struct nl_msg *rtnl_dump_link_routes(uint8_t family, int ifindex);

struct rtnl_addr {
	int ifindex;
	uint8_t scope; /* RT_SCOPE_* */
	struct ip_prefix ip;
};

/* Decodes RTM_NEWADDR. -EPROTO: another type of message, -EBADMSG: malformed. *ret is untouched on
 * failure. */
int rtnl_decode_addr(const struct nlmsghdr *, struct rtnl_addr *ret);
/* True if the RTM_NEWROUTE is exactly this route of the main table, through this link only. */
bool rtnl_is_route(const struct nlmsghdr *, int ifindex, const struct net_route *);

/* Formats the prefix: "10.0.0.7/24", "fd00::7/64". */
#define RTNL_PREFIX_SIZE 52
void rtnl_prefix_text(const struct ip_prefix *, char text[RTNL_PREFIX_SIZE]);

/* --- decoding routes -------------------------------------------------------------------------- */

/* Wire facts: linux/include/uapi/linux/rtnetlink.h (struct rtmsg), nexthop.h;
 * linux/net/ipv4/fib_semantics.c (fib_dump_info), linux/net/ipv6/route.c (rt6_fill_node). */

/* Exceeds the next hops of any real default route; further ones are ignored. */
#define ROUTE_LINKS_MAX 64

struct rtnl_route {
	bool is_default; /* matches all destinations, has next hops; not blocking or cached */
	bool is_main;	 /* in the main table, which has the host's own routes */
	bool at_zero;	 /* its destination is address 0, with any prefix length */
	unsigned n_links;
	int links[ROUTE_LINKS_MAX]; /* ifindexes of its next hops */
	uint32_t nexthop; /* id of its nexthop object, 0 = none; used if links[] is empty */
};

/* Decodes RTM_NEWROUTE or RTM_DELROUTE. -EPROTO: another type of message, -EBADMSG: malformed. *ret
 * is untouched on failure. */
int rtnl_decode_route(const struct nlmsghdr *, struct rtnl_route *ret);

/* True if the message may be a default route of any table; checks its header only. False for other
 * types of messages. A cheap filter for bursts of route messages, of which almost none are default
 * routes. */
bool rtnl_is_default_route(const struct nlmsghdr *);

/* One nexthop object: its link, or the ids of its group. */
struct rtnl_nexthop {
	int link; /* 0 = none */
	unsigned n_group;
	uint32_t group[ROUTE_LINKS_MAX];
};

/* Decodes RTM_NEWNEXTHOP; errors as rtnl_decode_route(). */
int rtnl_decode_nexthop(const struct nlmsghdr *, struct rtnl_nexthop *ret);

/* Requests; NULL when out of memory, else the caller frees with nlmsg_free(). family: AF_INET or
 * AF_INET6. Kernels without strict checking (before 4.20) return all tables. */
struct nl_msg *rtnl_dump_routes(uint8_t family);
struct nl_msg *rtnl_get_nexthop(uint32_t id);
