/* rtnl.h - rtnetlink link messages as plain values, and the requests for them. Pure: bytes in,
 * values out.
 *
 * Wire facts: linux/include/uapi/linux/if_link.h, rtnetlink.h, net_namespace.h;
 * linux/net/core/rtnetlink.c (rtnl_fill_ifinfo), linux/net/core/net_namespace.c (rtnl_net_fill). */
#pragma once

#include <netlink/msg.h>
#include <stdint.h>

#include "attachment.h"
#include "model.h"

#define NSID_NONE (-3) /* the message does not say */

struct rtnl_link {
	bool gone;	      /* RTM_DELLINK */
	struct netdev netdev; /* master_name stays "": only a dump can tell */
	bool has_parent;      /* the kernel named a parent device, be it a function or not */
	/* Of a device that is leaving: where to (NSID_NONE: it is not), and its ifindex there
	 * (0: the kernel does not say). */
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
/* IFLA_IFALIAS of an RTM_NEWLINK, "" = none; errors as above. */
int rtnl_decode_alias(const struct nlmsghdr *, char ret[ATTACH_ALIAS_SIZE]);
/* Every alternative name, with a space between two; -EOVERFLOW: those that had room. */
int rtnl_decode_altnames(const struct nlmsghdr *, char ret[ALTNAMES_SIZE]);
/* The netns id that an RTM_NEWNSID answer carries; -1 = that namespace has none. */
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

/* What is to change. Zero-initialised but for `netns_fd` and `up`: nothing. */
struct netdev_change {
	int netns_fd;	   /* -1 = it stays */
	const char *name;  /* NULL = as it is */
	const char *alias; /* NULL = as it is, "" = none */
	LINK_VALUES;	   /* 0 = as it is */
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
/* A pair of veths in the socket's namespace; the kernel names the other one. */
struct nl_msg *rtnl_new_veth(const char *name);
struct nl_msg *rtnl_new_stacked(const struct net_plan *, const char *name, int parent_ifindex,
				int netns_fd);
struct nl_msg *rtnl_delete_link(int ifindex);
/* Takes from it the alternative names that an RTM_NEWLINK tells (RTM_DELLINKPROP, IFLA_ALT_IFNAME),
 * but not those in `keep`, which has a space between two; *ret_n: how many, as fit. */
struct nl_msg *rtnl_delete_altnames(const struct nlmsghdr *link, const char *keep, unsigned *ret_n);
struct nl_msg *rtnl_add_altname(int ifindex, const char *name);
/* An XDP program, -1 = none; flags: XDP_FLAGS_*, the mode above all. */
struct nl_msg *rtnl_set_xdp(int ifindex, int program_fd, uint32_t flags);
