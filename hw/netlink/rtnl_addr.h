/* rtnl_addr.h - addresses and routes: requests for those of one link, routes and nexthops of all.
 * Pure: bytes in, values out.
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

/* -EEXIST is the answer when it is there already. */
struct nl_msg *rtnl_new_addr(int ifindex, const struct ip_prefix *);
/* Main table. -EEXIST is the answer when there is one to the same destination with the same
 * priority, be it through another link. */
struct nl_msg *rtnl_new_route(int ifindex, const struct net_route *);

/* Kernels without strict checking (before 4.20) answer with those of all links. */
struct nl_msg *rtnl_dump_addrs(int ifindex);
struct nl_msg *rtnl_dump_link_routes(uint8_t family, int ifindex);

struct rtnl_addr {
	int ifindex;
	uint8_t scope; /* RT_SCOPE_* */
	struct ip_prefix ip;
};

/* RTM_NEWADDR. -EPROTO: another type of message, -EBADMSG: of the wrong form. *ret is untouched on
 * failure. */
int rtnl_decode_addr(const struct nlmsghdr *, struct rtnl_addr *ret);
/* The RTM_NEWROUTE is this very route of the main table, through this link and no other. */
bool rtnl_is_route(const struct nlmsghdr *, int ifindex, const struct net_route *);

/* "10.0.0.7/24", "fd00::7/64" */
#define RTNL_PREFIX_SIZE 52
void rtnl_prefix_text(const struct ip_prefix *, char text[RTNL_PREFIX_SIZE]);

/* --- what a route says ------------------------------------------------------------------------ */

/* Wire facts: linux/include/uapi/linux/rtnetlink.h (struct rtmsg), nexthop.h;
 * linux/net/ipv4/fib_semantics.c (fib_dump_info), linux/net/ipv6/route.c (rt6_fill_node). */

/* More next hops than a default route has; the rest is not looked at. */
#define ROUTE_LINKS_MAX 64

struct rtnl_route {
	bool is_default; /* leads everywhere, through next hops; not one that blocks or is cached */
	bool is_main;	 /* of the main table, where the host's own routes are */
	bool at_zero;	 /* its destination starts at address 0, whatever its length */
	unsigned n_links;
	int links[ROUTE_LINKS_MAX]; /* ifindexes of its next hops */
	uint32_t nexthop; /* id of its nexthop object, 0 = none: asked only without links */
};

/* Decodes RTM_NEWROUTE or RTM_DELROUTE. -EPROTO: another type of message, -EBADMSG: of the wrong
 * form. *ret is untouched on failure. */
int rtnl_decode_route(const struct nlmsghdr *, struct rtnl_route *ret);

/* From the message's header alone: can it be a default route, of any table? False for other types
 * of messages. For storms of routes, of which nearly none is. */
bool rtnl_is_default_route(const struct nlmsghdr *);

/* One nexthop object: its link, or the ids of its group. */
struct rtnl_nexthop {
	int link; /* 0 = none */
	unsigned n_group;
	uint32_t group[ROUTE_LINKS_MAX];
};

/* Decodes RTM_NEWNEXTHOP; as above. */
int rtnl_decode_nexthop(const struct nlmsghdr *, struct rtnl_nexthop *ret);

/* Requests; NULL when out of memory, else the caller frees with nlmsg_free(). family: AF_INET or
 * AF_INET6. Kernels without strict checking (before 4.20) answer with all tables. */
struct nl_msg *rtnl_dump_routes(uint8_t family);
struct nl_msg *rtnl_get_nexthop(uint32_t id);
