/* SPDX-License-Identifier: Apache-2.0 */
/* netns.h - finds and opens network namespaces by name, path or identity, and runs functions inside
 * them. */
#pragma once

#include "attachment.h"
#include "hw.h"
#include "nlsock.h"

/* Calls fn for each named namespace, i.e. with a bind mount in the host's /run/netns (opened
 * through process 1 first, so that a container sees the host's). fd is borrowed. A negative return
 * of fn stops the iteration and is returned; -ENOENT: no such directory, so no namespace has a
 * name. */
typedef int netns_fn(int fd, const char *name, void *arg);
int netns_list(const struct hw *, netns_fn *fn, void *arg);

/* Opens a named namespace; the caller closes it. -ENOENT: no such name, or its file is not a mount
 * point (yet or any more). */
int netns_open(const struct hw *, const char *name);
/* Opens our own namespace. */
int netns_open_own(void);

/* Opens a netlink socket in the namespace netns_fd; the caller closes it. Needs CAP_SYS_ADMIN. The
 * socket stays in that namespace. */
int netns_socket(int netns_fd, int protocol);

/* --- work inside namespaces ------------------------------------------------------------------- */

/* Opens the namespace of a host path as reported by the runtime ("/var/run/netns/cni-1234",
 * "/proc/17/ns/net"). Resolved below proc_fd's "1/root" if we have our own mount namespace (Linux
 * 5.6, for openat2()). -ENOENT: the path does not exist any more, -EINVAL: it is not a network
 * namespace. */
int netns_open_path(const struct hw *, const char *path, struct err *);
/* Sets *ret to the path with device and inode of the nsfs file. */
int netns_identify(int netns_fd, const char *path, struct netns_id *ret);
/* Opens the namespace only if the path still leads to the same one. Otherwise -ENOENT, also if the
 * identity is unknown, because a path alone proves nothing. */
int netns_open_id(const struct hw *, const struct netns_id *, struct err *);
/* True if the path still leads to this namespace. If false, the namespace may still exist: only the
 * path may have been removed. */
bool netns_is_there(const struct hw *, const struct netns_id *);

/* Result of a search for a namespace. */
enum netns_life { NETNS_UNKNOWN, NETNS_ALIVE, NETNS_DEAD };

/* Opens the namespace by its path. If that does not lead to the namespace any more, searches
 * another path, and stores it in the id. -ENOENT: the namespace does not exist any more; -EAGAIN:
 * not found, but not everything could be searched. Walks over all processes: for worker threads. */
int netns_open_anywhere(const struct hw *, struct netns_id *, struct err *);
/* Like netns_open_anywhere(), but does not keep the namespace open. */
enum netns_life netns_search(const struct hw *, struct netns_id *);

/* Whether a process runs in a namespace. */
enum netns_use { NETNS_USE_UNKNOWN, NETNS_EMPTY, NETNS_IN_USE };
/* Checks n namespaces in one pass over the main threads of all processes. Sets ret_use[i], and
 * ret_pid[i] to a process in it. NETNS_USE_UNKNOWN: none found, but not every process could be
 * read. For worker threads: about 4 us per process. */
void netns_users(const struct hw *, const struct netns_id *, size_t n, enum netns_use *ret_use,
		 unsigned *ret_pid);

/* Runs fn inside the namespace and returns its result. Only the calling thread enters the
 * namespace; it has left it when the function returns. */
int netns_run(int netns_fd, int (*fn)(void *arg), void *arg);
/* Opens a rtnetlink or RDMA netlink socket inside the namespace. */
int netns_nlsock(struct nlsock *ret, int netns_fd, int protocol, struct err *);

/* Returned by netns_each(): some namespaces may have been missed. */
#define NETNS_INCOMPLETE 1

/* Calls fn once for every live network namespace except our own: named ones, those of processes
 * (/proc/N/ns/net), those kept only by a mount (/proc/N/mountinfo) or an open descriptor
 * (/proc/N/fd). path: a path to open it. A negative return of fn stops the walk and is returned.
 * NETNS_INCOMPLETE: fn was called for all that were found, but some processes were unreadable, too
 * many or had too many open files, or we ran out of descriptors; others may exist. -ENOMEM. The
 * result is never older than the call; concurrent calls share a walk. */
int netns_each(const struct hw *, int (*fn)(int netns_fd, const char *path, void *arg), void *arg);

/* Writes net/ipv4 or net/ipv6 conf settings of a netdev in that namespace: "arp_notify" = "1". Uses
 * hw's proc root, which shows the caller's namespace in any procfs mount (proc_sysctl.c). -ENOENT:
 * the kernel has no such setting, or IPv6 is off. -EROFS: sys/ is mounted read-only, as in
 * unprivileged containers without another procfs. */
struct sysctl_setting {
	int family;
	const char *key, *value;
};
int netns_sysctl(const struct hw *, int netns_fd, const char *ifname, const struct sysctl_setting *,
		 size_t n, struct err *);

/* Probes whether another station uses one of these addresses, and listens for wait_ms; the netdev
 * must be up and have none of them. 1: in use; the address and the station's MAC are set; 0: no
 * answer; negative: cannot probe (no carrier, no CAP_NET_RAW). Ethernet only. */
int netns_probe(int netns_fd, int ifindex, const uint8_t mac[6], const struct ip_prefix *, size_t n,
		unsigned wait_ms, size_t *ret_which, uint8_t ret_mac[6]);

/* Announces the addresses to the neighbours: a gratuitous ARP (RFC 5227, section 3; an ARP request
 * of the address for itself) for each IPv4 address, an unsolicited neighbour advertisement (RFC
 * 9131; RFC 4861, section 7.2.6) for each IPv6 one. Ethernet only. */
int netns_announce(int netns_fd, int ifindex, const uint8_t mac[6], const struct ip_prefix *,
		   size_t n, struct err *);
