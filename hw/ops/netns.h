/* netns.h - network namespaces: named ones, others by path or identity, and work inside them. */
#pragma once

#include "attachment.h"
#include "hw.h"
#include "nlsock.h"

/* Calls fn for each namespace that has a name, i.e. a bind mount in the host's /run/netns (which is
 * looked for through process 1 first, so that a container sees the host's). fd is borrowed. A
 * negative return of fn ends the walk and is returned; -ENOENT: there is no such directory, nothing
 * has a name. */
typedef int netns_fn(int fd, const char *name, void *arg);
int netns_list(const struct hw *, netns_fn *fn, void *arg);

/* The namespace of that name; the caller closes it. -ENOENT: there is none, perhaps a file that is
 * to become its mount point or was. */
int netns_open(const struct hw *, const char *name);
/* Our own. */
int netns_open_own(void);

/* A netlink socket that lives in the namespace netns_fd; the caller closes it. Needs CAP_SYS_ADMIN.
 * It keeps the namespace that the thread was in when it opened it. */
int netns_socket(int netns_fd, int protocol);

/* --- work inside namespaces ------------------------------------------------------------------- */

/* Opens the namespace of `path` ("/var/run/netns/cni-1234", "/proc/17/ns/net", as the runtime tells
 * it: a path of the host). Below proc_fd's "1/root" when we have a mount namespace of our own
 * (Linux 5.6, for openat2()). -ENOENT: not there any more, -EINVAL: not a network namespace. */
int netns_open_path(const struct hw *, const char *path, struct err *);
/* Device and inode of the nsfs file, with the path. */
int netns_identify(int netns_fd, const char *path, struct netns_id *ret);
/* Opens it only if it is still the same one; -ENOENT otherwise, also if nobody knew which one it
 * was: a path alone is no proof. */
int netns_open_id(const struct hw *, const struct netns_id *, struct err *);
/* Its path still leads to it. False is no proof of its death: paths go, too. */
bool netns_is_there(const struct hw *, const struct netns_id *);

/* What a search can tell of a namespace. */
enum netns_life { NETNS_UNKNOWN, NETNS_ALIVE, NETNS_DEAD };

/* Opens it by its path or, when that does not lead to it any more, by another one, which is then
 * the id's. -ENOENT: it is dead, nothing keeps it; -EAGAIN: it was not found, and not everything
 * could be looked at. Walks over all processes: for worker threads. */
int netns_open_anywhere(const struct hw *, struct netns_id *, struct err *);
/* The same without keeping it open. */
enum netns_life netns_search(const struct hw *, struct netns_id *);

/* Does a process run in a namespace? */
enum netns_use { NETNS_USE_UNKNOWN, NETNS_EMPTY, NETNS_IN_USE };
/* One pass over the first threads of all processes, for n namespaces at once. ret_use[i], and the
 * process that was found. NETNS_USE_UNKNOWN: none was found, and not every process could be looked
 * at. For worker threads: some 4 us a process. */
void netns_users(const struct hw *, const struct netns_id *, size_t n, enum netns_use *ret_use,
		 unsigned *ret_pid);

/* Runs fn inside the namespace; returns what fn does. Namespaces are a thread's: no other one is
 * inside meanwhile, and this one is back when it returns. */
int netns_run(int netns_fd, int (*fn)(void *arg), void *arg);
/* A rtnetlink or RDMA netlink socket inside it. */
int netns_nlsock(struct nlsock *ret, int netns_fd, int protocol, struct err *);

/* netns_each(): some may have been missed. */
#define NETNS_INCOMPLETE 1

/* Every live network namespace but our own, each once: those with a name, those of processes
 * (/proc/N/ns/net), those that only a mount (/proc/N/mountinfo) or an open descriptor (/proc/N/fd)
 * keeps. path: one by which it can be opened. A negative return of fn ends the walk and is
 * returned. NETNS_INCOMPLETE: all that were found were told, but processes may not be looked into,
 * are too many or have too much open, or we ran out of descriptors: that one is not among them is
 * not known. -ENOMEM. What it sees is never older than the call; calls at once share a walk. */
int netns_each(const struct hw *, int (*fn)(int netns_fd, const char *path, void *arg), void *arg);

/* Writes net/ipv4 or net/ipv6 conf settings of a netdev in that namespace: "arp_notify" = "1".
 * Below hw's proc root, which shows the caller's namespace whoever's procfs it is (proc_sysctl.c).
 * -ENOENT: this kernel has no such setting, or IPv6 is off. -EROFS: its sys/ is read-only, as in
 * containers that are not privileged and have no other procfs. */
struct sysctl_setting {
	int family;
	const char *key, *value;
};
int netns_sysctl(const struct hw *, int netns_fd, const char *ifname, const struct sysctl_setting *,
		 size_t n, struct err *);

/* Asks the neighbours whether a station has one of these addresses, and listens for wait_ms; the
 * netdev is up and has none of them itself. 1: one has, which and by which MAC; 0: none has
 * answered; negative: cannot be asked (no carrier, no CAP_NET_RAW). Ethernet only. */
int netns_probe(int netns_fd, int ifindex, const uint8_t mac[6], const struct ip_prefix *, size_t n,
		unsigned wait_ms, size_t *ret_which, uint8_t ret_mac[6]);

/* Tells the neighbours: a gratuitous ARP (RFC 5227, section 3; an ARP request of the address for
 * itself) for each IPv4 address, an unsolicited neighbour advertisement (RFC 9131; RFC 4861,
 * section 7.2.6) for each IPv6 one. Ethernet only. */
int netns_announce(int netns_fd, int ifindex, const uint8_t mac[6], const struct ip_prefix *,
		   size_t n, struct err *);
