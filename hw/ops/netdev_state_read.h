/* SPDX-License-Identifier: Apache-2.0 */
/* netdev_state_read.h - reads the state of a netdev (netdev_state.h). */
#pragma once

#include <net/if.h>
#include <netlink/msg.h>

#include "hw.h"
#include "netdev_inside.h"
#include "netdev_state.h"
#include "nlsock.h"

/* Takes a snapshot with the key in `ret`; the netdev must be in the namespace of the socket and the
 * thread. Unreadable sections are unknown, not an error. About 60 system calls; a driver may query
 * its firmware. */
void netdev_state_read(struct netdev_state *ret, const struct hw *, struct nlsock *rtnl,
		       int ifindex, const char *name);

/* Result of netdev_inside_read(): only namespaces that can be found were searched, not those that
 * only a socket pins. */
#define NETDEV_SEARCHED 1

/* Reads the properties that no netlink message contains, of a netdev in the thread's namespace. 0:
 * complete, read by a BPF program. NETDEV_SEARCHED: no program could run; uppers were searched in
 * the namespaces that can be found and may be incomplete. Negative: even that failed. For worker
 * threads. */
int netdev_inside_read(const struct hw *, int ifindex, struct netdev_inside *ret);

/* Finds a netdev stacked on a netdev of the thread's namespace, in any namespace: by its id or, if
 * that is 0, by the inode of its namespace and its index there. 1: found, *ret is set; 0: not
 * stacked on it (any more); negative: unknown, as no BPF program can run. For worker threads. */
int netdev_upper_find(const struct hw *, int ifindex, const struct netdev_upper *match,
		      struct netdev_upper *ret);

/* Finds a netdev stacked on this one in the same namespace, by sysfs; false: none. */
bool netdev_upper_here(const struct hw *, const char *name, char ret[IFNAMSIZ]);

/* --- pure ------------------------------------------------------------------------------------- */

/* Adds the attributes of an RTM_NEWLINK; -EBADMSG. */
int netdev_state_link(struct netdev_state *, const struct nlmsghdr *);
/* Builds the i-th ethtool netlink request; NULL: past the last one, or out of memory (then
 * ret_section is untouched). */
struct nl_msg *netdev_state_question(size_t i, uint16_t family, int ifindex,
				     enum netdev_section *ret_section);
/* Adds the answer to the i-th request: a message, or h == NULL and an error. */
void netdev_state_answer(struct netdev_state *, size_t i, const struct nlmsghdr *h, int error);
/* Builds the request for all RSS contexts including additional ones (Linux 6.11);
 * netdev_state_rss() adds one of the answers. */
struct nl_msg *netdev_state_rss_dump(uint16_t family, int ifindex);
void netdev_state_rss(struct netdev_state *, const struct nlmsghdr *);
/* Adds one NAPI instance of NETDEV_CMD_NAPI_GET; -EBADMSG. */
int netdev_state_napi(struct netdev_state *, const struct nlmsghdr *);
