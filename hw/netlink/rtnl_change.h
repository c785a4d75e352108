/* rtnl_change.h - requests that change a link. Pure: values in, bytes out.
 *
 * All return NULL when out of memory, else the caller frees with nlmsg_free(). Wire facts:
 * linux/include/uapi/linux/if_link.h; do_setlink(), rtnl_newlink() in linux/net/core/rtnetlink.c.
 */
#pragma once

#include <netlink/msg.h>
#include <stdint.h>

#include "attachment.h"

/* What is to change. Zero-initialised but for `netns_fd` and `up`: nothing. */
struct netdev_change {
	int netns_fd;	   /* -1 = it stays */
	const char *name;  /* NULL = as it is */
	const char *alias; /* NULL = as it is, "" = none */
	unsigned mtu;	   /* 0 = as it is */
	const uint8_t *addr;
	unsigned addr_len; /* 0 = as it is */
	int up;		   /* 1, 0, -1 = as it is */
	unsigned clear;	   /* IFF_* to take from it, other than IFF_UP */
};

#define NETDEV_NO_CHANGE ((struct netdev_change){.netns_fd = -1, .up = -1})

/* One link, by index if that is > 0, by name otherwise. */
struct nl_msg *rtnl_get_link(int ifindex, const char *name);
struct nl_msg *rtnl_change_link(int ifindex, const struct netdev_change *);
/* A macvlan or ipvlan of that name inside netns_fd, on a link of the socket's own namespace. It
 * takes no alias: rtnl_create_link() does not look for one. */
struct nl_msg *rtnl_new_stacked(const struct net_plan *, const char *name, int parent_ifindex,
				int netns_fd);
struct nl_msg *rtnl_delete_link(int ifindex);
/* Takes from it the alternative names that an RTM_NEWLINK tells (RTM_DELLINKPROP, IFLA_ALT_IFNAME),
 * but not those in `keep`, which has a space between two; *ret_n: how many, as fit. */
struct nl_msg *rtnl_delete_altnames(const struct nlmsghdr *link, const char *keep, unsigned *ret_n);
struct nl_msg *rtnl_add_altname(int ifindex, const char *name);
/* An XDP program, -1 = none; flags: XDP_FLAGS_*, the mode above all. */
struct nl_msg *rtnl_set_xdp(int ifindex, int program_fd, uint32_t flags);
