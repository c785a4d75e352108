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
/* Takes an alternative name from it (RTM_DELLINKPROP, IFLA_ALT_IFNAME). */
struct nl_msg *rtnl_delete_altname(int ifindex, const char *name);
