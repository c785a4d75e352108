/* netdev_look.h - reads what a netdev in the host is like (netdev_state.h). */
#pragma once

#include <net/if.h>
#include <netlink/msg.h>

#include "hw.h"
#include "netdev_inside.h"
#include "netdev_state.h"
#include "nlsock.h"

/* Looks with the key of `ret`; the netdev is in the socket's and the thread's namespace. What
 * cannot be read is unknown, never an error. Some 60 system calls; a driver may ask its firmware.
 */
void netdev_look(struct netdev_state *ret, const struct hw *, struct nlsock *rtnl, int ifindex,
		 const char *name);

/* The namespaces that can be found were asked; one that only a socket keeps cannot be. */
#define NETDEV_SEARCHED 1

/* What no message tells of a netdev in the thread's namespace. 0: the kernel itself has told it, by
 * a BPF program. NETDEV_SEARCHED: nobody could ask it so; what is found is so, and no more is
 * known. Negative: not even that. For worker threads. */
int netdev_look_inside(const struct hw *, int ifindex, struct netdev_inside *ret);

/* One of the netdevs that sit on a netdev in the thread's namespace, wherever it is: by its id or,
 * where that is 0, by the inode of its namespace and its index there. 1: *ret; 0: it does not sit
 * there (any more); negative: only a BPF program could tell, and none can be run. For worker
 * threads. */
int netdev_upper_find(const struct hw *, int ifindex, const struct netdev_upper *sought,
		      struct netdev_upper *ret);

/* A netdev that sits on it in the same namespace, as sysfs tells; false: none does. */
bool netdev_upper_here(const struct hw *, const char *name, char ret[IFNAMSIZ]);

/* --- pure ------------------------------------------------------------------------------------- */

/* Adds what an RTM_NEWLINK tells; -EBADMSG. */
int netdev_state_link(struct netdev_state *, const struct nlmsghdr *);
/* What is asked of ethtool netlink, one after the other; NULL: past the last one, or no memory
 * (then ret_section is untouched). */
struct nl_msg *netdev_state_question(size_t i, uint16_t family, int ifindex,
				     enum netdev_section *ret_section);
/* The answer to the i-th: a message, or h == NULL and an error. */
void netdev_state_answer(struct netdev_state *, size_t i, const struct nlmsghdr *h, int error);
/* What asks for the RSS contexts beside the first one, too (Linux 6.11), and one of the answers. */
struct nl_msg *netdev_state_rss_dump(uint16_t family, int ifindex);
void netdev_state_rss(struct netdev_state *, const struct nlmsghdr *);
/* Adds one NAPI instance of NETDEV_CMD_NAPI_GET; -EBADMSG. */
int netdev_state_napi(struct netdev_state *, const struct nlmsghdr *);
