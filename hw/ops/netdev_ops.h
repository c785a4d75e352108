/* SPDX-License-Identifier: Apache-2.0 */
/* netdev_ops.h - changes one netdev in any namespace: synchronous, with one netlink request each
 * where the kernel allows it.
 *
 * Every call takes a rtnetlink socket of the netdev's namespace (nlsock_open(), or netns_nlsock()
 * of another one). Errors include the kernel's extack message. Wire facts:
 * linux/include/uapi/linux/{if_link,if_addr,rtnetlink}.h; do_setlink() in
 * linux/net/core/rtnetlink.c: the move comes first, so one request moves, renames and sets the rest
 * in the new namespace. */
#pragma once

#include "attachment.h"
#include "nlsock.h"
#include "rtnl.h"

/* A netdev as read by rtnetlink. alias: "" = none. */
struct netdev_seen {
	struct netdev netdev;
	char alias[ATTACH_ALIAS_SIZE];
	char altnames[ALTNAMES_SIZE];	/* separated by spaces */
	bool more_altnames;		/* altnames was too short for all */
	bool has_xdp;			/* an XDP program is attached */
	uint8_t perm_addr[HW_ADDR_MAX]; /* IFLA_PERM_ADDRESS, Linux 5.6 */
	unsigned perm_addr_len;		/* 0 = unknown */
};

/* Find a netdev by index, by name, or by its function (IFLA_PARENT_DEV_NAME, Linux 5.14). -ENODEV:
 * not in this namespace. guess: its likely index, which avoids a dump of all netdevs; 0 = unknown.
 */
int netdev_by_index(struct nlsock *, int ifindex, struct netdev_seen *ret, struct err *);
int netdev_by_name(struct nlsock *, const char *name, struct netdev_seen *ret, struct err *);
int netdev_by_function(struct nlsock *, const char *function, int guess, struct netdev_seen *ret,
		       struct err *);
/* Finds the first netdev with exactly this alias. */
int netdev_by_alias(struct nlsock *, const char *alias, struct netdev_seen *ret, struct err *);

/* Removes from a change the values that the netdev already has. In a move the name is kept, because
 * it must be set in the new namespace, too. */
void netdev_change_trim(struct netdev_change *, const struct netdev_seen *);
/* True if the change has no values, except possibly `up`. */
bool netdev_change_is_empty(const struct netdev_change *);
/* Applies a change. Not atomic: the kernel moves the netdev first; if it then rejects a value (a
 * name in use there: -EEXIST, an MTU, an address), the netdev stays moved or partly changed. */
int netdev_change(struct nlsock *, int ifindex, const struct netdev_change *, struct err *);

/* Creates a macvlan (bridge mode) or ipvlan (L2) named `ifname` inside netns_fd, on parent_ifindex
 * of the socket's namespace, with that alias and the MTU and MAC of the plan. Until it is complete
 * it is named "rl-IFNAME" (truncated to fit); a leftover of an interrupted attempt is replaced. */
int netdev_make_stacked(struct nlsock *, const struct net_plan *, int parent_ifindex, int netns_fd,
			const char *alias, struct err *);
/* Creates a temporary veth pair; deleting one end deletes both. A leftover of that name is
 * replaced. */
int netdev_make_veth(struct nlsock *, const char *name, int *ret_ifindex, struct err *);
int netdev_delete(struct nlsock *, int ifindex, struct err *);
/* Deletes all alternative names except those in `keep`, separated by spaces. An alternative name
 * prevents renaming its netdev to it, and prevents moving a netdev of that name into the namespace.
 */
int netdev_keep_altnames(struct nlsock *, int ifindex, const char *keep, struct err *);
/* Adds an alternative name. -EEXIST: the name is in use. */
int netdev_add_altname(struct nlsock *, int ifindex, const char *name, struct err *);
/* Detaches XDP programs of all modes, as far as the kernel allows: not those of a BPF link. */
void netdev_detach_xdp(struct nlsock *, int ifindex);

/* Sets addresses, `up` and routes (which the kernel rejects while the link is down) in one
 * datagram. Existing ones are accepted; a different route with the same key is -EEXIST. The message
 * names the rejected address or route; the others are set. More than 64 routes: -E2BIG. */
int netdev_configure(struct nlsock *, int ifindex, const struct ip_prefix *, size_t n_ips,
		     const struct net_route *, size_t n_routes, bool up, struct err *);
/* Lists the addresses of global scope; returns their number (at most `max` are stored). */
int netdev_addresses(struct nlsock *, int ifindex, struct ip_prefix *ret, size_t max, struct err *);

/* Read and set the settings of a VF through its PF; the socket is the host's. vf_settings_get():
 * -ENODEV = the PF has no such VF; settings that the driver does not report are not in `fields`.
 * vf_settings_set(): sets those in want->fields in one request, in the order in which the kernel's
 * do_setvfinfo() applies them. If the kernel rejects the request because of its content
 * (-EOPNOTSUPP, -EINVAL ...), they are set one by one; the message names all rejected ones, the
 * others are set. A minimum rate without a maximum keeps the current maximum. */
int vf_settings_get(struct nlsock *, int pf_ifindex, int vf, struct vf_settings *ret, struct err *);
int vf_settings_set(struct nlsock *, int pf_ifindex, int vf, const struct vf_settings *want,
		    struct err *);
/* Returns the settings of `want` that differ in `is`, as bits. */
unsigned vf_settings_differ(const struct vf_settings *want, const struct vf_settings *is);
/* Formats the names of the settings: "mac, vlan". */
void vf_fields_text(unsigned fields, char *text, size_t size);
