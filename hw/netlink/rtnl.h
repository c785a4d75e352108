/* SPDX-License-Identifier: Apache-2.0 */
/* rtnl.h - decodes rtnetlink link messages to plain values and builds requests. Pure.
 *
 * Wire facts: linux/include/uapi/linux/if_link.h, rtnetlink.h, net_namespace.h;
 * linux/net/core/rtnetlink.c (rtnl_fill_ifinfo), linux/net/core/net_namespace.c (rtnl_net_fill). */
#pragma once

#include <netlink/msg.h>
#include <stdint.h>

#include "attachment.h"
#include "model.h"

#define NSID_NONE (-3) /* not in the message */

struct rtnl_link {
	bool gone;	      /* RTM_DELLINK */
	struct netdev netdev; /* master_name stays "": it needs a whole dump */
	bool has_parent;      /* the message has a parent device, which may not be a function */
	/* If the netdev moves to another namespace: the id of that namespace (NSID_NONE: it does
	 * not move), and its ifindex there (0: not reported). */
	int new_nsid, new_ifindex;
};

struct rtnl_stats {
	bool known;
	uint64_t rx_bytes, tx_bytes, rx_packets, tx_packets;
};

/* Decodes RTM_NEWLINK or RTM_DELLINK. stats may be NULL. -EPROTO: another type of message,
 * -EBADMSG: an attribute has the wrong size or form. Outputs are untouched on failure. netdev.nsid
 * is NSID_HOST unless the message answers a request for another namespace. */
int rtnl_decode_link(const struct nlmsghdr *, struct rtnl_link *ret, struct rtnl_stats *stats);
/* Decodes IFLA_IFALIAS of an RTM_NEWLINK, "" = none; errors as rtnl_decode_link(). */
int rtnl_decode_alias(const struct nlmsghdr *, char ret[ATTACH_ALIAS_SIZE]);
/* Decodes all alternative names, separated by spaces; -EOVERFLOW: ret has those that fitted. */
int rtnl_decode_altnames(const struct nlmsghdr *, char ret[ALTNAMES_SIZE]);
/* Decodes the netns id of an RTM_NEWNSID answer; -1 = that namespace has none. */
int rtnl_decode_nsid(const struct nlmsghdr *, int *ret_nsid);

/* Requests; NULL when out of memory, else the caller frees with nlmsg_free(). nsid: NSID_HOST for
 * our own namespace. */
struct nl_msg *rtnl_dump_links(int nsid, bool with_stats);
struct nl_msg *rtnl_dump_nsids(void);
struct nl_msg *rtnl_get_nsid(int netns_fd);

/* --- changes of links ------------------------------------------------------------------------- */

/* Requests; all return NULL when out of memory, else the caller frees with nlmsg_free(). Wire
 * facts: linux/include/uapi/linux/if_link.h; do_setlink(), rtnl_newlink() in
 * linux/net/core/rtnetlink.c.
 */

/* The changes to make. NETDEV_NO_CHANGE: none. */
struct netdev_change {
	int netns_fd;	   /* -1 = do not move */
	const char *name;  /* NULL = unchanged */
	const char *alias; /* NULL = unchanged, "" = remove */
	LINK_VALUES;	   /* 0 = unchanged */
	const uint8_t *addr;
	unsigned addr_len; /* 0 = unchanged */
	int up;		   /* 1, 0, -1 = unchanged */
	unsigned clear;	   /* IFF_* flags to clear, other than IFF_UP */
};

#define NETDEV_NO_CHANGE ((struct netdev_change){.netns_fd = -1, .up = -1})

/* Requests one link, by index if that is > 0, by name otherwise. */
struct nl_msg *rtnl_get_link(int ifindex, const char *name);
struct nl_msg *rtnl_change_link(int ifindex, const struct netdev_change *);
/* rtnl_new_veth() creates a pair of veths in the socket's namespace; the kernel names the peer.
 * rtnl_new_stacked() creates a macvlan or ipvlan inside netns_fd, on a link of the socket's
 * namespace; it cannot set an alias, which rtnl_create_link() ignores. */
struct nl_msg *rtnl_new_veth(const char *name);
struct nl_msg *rtnl_new_stacked(const struct net_plan *, const char *name, int parent_ifindex,
				int netns_fd);
struct nl_msg *rtnl_delete_link(int ifindex);
/* Deletes the alternative names in an RTM_NEWLINK (RTM_DELLINKPROP, IFLA_ALT_IFNAME) except those
 * in `keep`, separated by spaces; *ret_n: how many fitted into the request. */
struct nl_msg *rtnl_delete_altnames(const struct nlmsghdr *link, const char *keep, unsigned *ret_n);
struct nl_msg *rtnl_add_altname(int ifindex, const char *name);
/* Attaches an XDP program, -1 = detach; flags: XDP_FLAGS_*, in particular the mode. */
struct nl_msg *rtnl_set_xdp(int ifindex, int program_fd, uint32_t flags);
