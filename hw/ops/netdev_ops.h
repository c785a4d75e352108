/* netdev_ops.h - changes of one netdev, in whatever namespace it is: synchronous, one request each
 * as far as the kernel can do it in one.
 *
 * Every call takes a rtnetlink socket that lives in the netdev's namespace (nlsock_open(), or
 * netns_nlsock() of another). Errors name the kernel's own sentence. Wire facts:
 * linux/include/uapi/linux/{if_link,if_addr,rtnetlink}.h; do_setlink() in
 * linux/net/core/rtnetlink.c: the move comes first, so one request moves, renames and sets the rest
 * in the new namespace. */
#pragma once

#include "attachment.h"
#include "nlsock.h"
#include "rtnl.h"

/* The alias comes along: "" = none. */
struct netdev_seen {
	struct netdev netdev;
	char alias[ATTACH_ALIAS_SIZE];
	char altnames[ALTNAMES_SIZE];	/* all of them, with a space between two */
	bool more_altnames;		/* there was no room for all */
	bool has_xdp;			/* a program is attached to it */
	uint8_t perm_addr[HW_ADDR_MAX]; /* IFLA_PERM_ADDRESS, Linux 5.6 */
	unsigned perm_addr_len;		/* 0 = unknown */
};

/* By index, by name, by the function below it (IFLA_PARENT_DEV_NAME, Linux 5.14). -ENODEV: there is
 * none here. `guess`: the index that it probably has, which saves a look at every netdev; 0 = who
 * knows. */
int netdev_by_index(struct nlsock *, int ifindex, struct netdev_seen *ret, struct err *);
int netdev_by_name(struct nlsock *, const char *name, struct netdev_seen *ret, struct err *);
int netdev_by_function(struct nlsock *, const char *function, int guess, struct netdev_seen *ret,
		       struct err *);
/* The first that bears just this alias. */
int netdev_by_alias(struct nlsock *, const char *alias, struct netdev_seen *ret, struct err *);

/* Takes from a change what the netdev has already. A name that it takes along when it moves stays:
 * it is needed there. */
void netdev_change_trim(struct netdev_change *, const struct netdev_seen *);
/* Nothing is left of it but perhaps `up`. */
bool netdev_change_is_empty(const struct netdev_change *);
/* Not all or nothing: the kernel moves first, and what it refuses afterwards (a name that is taken
 * there: -EEXIST, an MTU, an address) leaves the netdev moved, or partly changed. */
int netdev_change(struct nlsock *, int ifindex, const struct netdev_change *, struct err *);

/* A macvlan (bridge mode) or ipvlan (L2) named `ifname` on parent_ifindex of the socket's
 * namespace, made inside netns_fd, with that alias; MTU and MAC of the plan. Until it is complete
 * it is called "rl-IFNAME" (cut to fit); one that a dead attempt has left is replaced. */
int netdev_make_stacked(struct nlsock *, const struct net_plan *, int parent_ifindex, int netns_fd,
			const char *alias, struct err *);
/* A veth (and its peer, which goes with it) that is there for a moment only; what a dead attempt
 * has left under that name is replaced. */
int netdev_make_veth(struct nlsock *, const char *name, int *ret_ifindex, struct err *);
int netdev_delete(struct nlsock *, int ifindex, struct err *);
/* Every alternative name goes but those in `keep`, which has a space between two. One keeps its own
 * netdev from being called so, and any netdev that has such a name from coming to where it is. */
int netdev_keep_altnames(struct nlsock *, int ifindex, const char *keep, struct err *);
/* -EEXIST: somebody has it. */
int netdev_add_altname(struct nlsock *, int ifindex, const char *name, struct err *);
/* XDP programs of whatever mode, as far as the kernel lets one: not what a BPF link holds. */
void netdev_detach_xdp(struct nlsock *, int ifindex);

/* In one datagram: addresses, `up`, routes (of which the kernel takes none through a link that is
 * down). What is there already is fine; another route in the place of a wanted one is -EEXIST. The
 * message names the address or route that was refused; the others are made all the same. At most 64
 * routes, -E2BIG. */
int netdev_configure(struct nlsock *, int ifindex, const struct ip_prefix *, size_t n_ips,
		     const struct net_route *, size_t n_routes, bool up, struct err *);
/* Addresses of global scope that the netdev has; returns how many (at most `max` are stored). */
int netdev_addresses(struct nlsock *, int ifindex, struct ip_prefix *ret, size_t max, struct err *);

/* Settings of a VF through its PF; the socket is the host's. get: -ENODEV = the PF has no such VF;
 * fields that the driver does not tell are not in `fields`. set: the fields of `want` in one
 * request, in the order the kernel's do_setvfinfo() applies them. When that is refused for what was
 * asked (-EOPNOTSUPP, -EINVAL ...), they are made one by one, and the message names all that the
 * driver refuses; the rest is made then. A minimum rate alone keeps the maximum there is. */
int vf_settings_get(struct nlsock *, int pf_ifindex, int vf, struct vf_settings *ret, struct err *);
int vf_settings_set(struct nlsock *, int pf_ifindex, int vf, const struct vf_settings *want,
		    struct err *);
/* Fields of `want` that `is` does not have as wanted, as bits. */
unsigned vf_settings_differ(const struct vf_settings *want, const struct vf_settings *is);
/* "mac, vlan" */
void vf_fields_text(unsigned fields, char *text, size_t size);
