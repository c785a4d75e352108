/* rtnl_addr.h - requests for addresses and routes of one link, and what the kernel tells of them.
 * Pure: bytes in, values out.
 *
 * Requests are NULL when out of memory, else the caller frees with nlmsg_free(). Wire facts:
 * linux/include/uapi/linux/if_addr.h, rtnetlink.h; inet_rtm_newaddr() in linux/net/ipv4/devinet.c,
 * inet6_rtm_newaddr() in linux/net/ipv6/addrconf.c, rtm_to_fib_config() in
 * linux/net/ipv4/fib_frontend.c, rtm_to_fib6_config() in linux/net/ipv6/route.c. */
#pragma once

#include <netlink/msg.h>

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
