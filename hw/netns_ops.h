/* netns_ops.h - work inside other network namespaces. The calling thread never changes its own. */
#pragma once

#include "attachment.h"
#include "hw.h"
#include "nlsock.h"

/* Opens the namespace of `path` ("/var/run/netns/cni-1234", "/proc/17/ns/net", as the runtime tells
 * it: a path of the host). Below proc_fd's "1/root" when we have a mount namespace of our own
 * (Linux 5.6, for openat2()). -ENOENT: not there any more, -EINVAL: not a network namespace. */
int netns_open_path(const struct hw *, const char *path, struct err *);
/* Device and inode of the nsfs file, with the path. */
int netns_identify(int netns_fd, const char *path, struct netns_id *ret);
/* Opens it only if it is still the same one; -ENOENT otherwise, also if nobody knew which one it
 * was: a path alone is no proof. */
int netns_open_id(const struct hw *, const struct netns_id *, struct err *);
/* Is it still there? Without opening it for long. True also when it could not be looked at (no
 * descriptors left, no rights): only what is known to be dead is. */
bool netns_is_alive(const struct hw *, const struct netns_id *);

/* Runs fn on a short-lived thread inside the namespace; returns what fn does. */
int netns_run(int netns_fd, int (*fn)(void *arg), void *arg);
/* A rtnetlink or RDMA netlink socket inside it. */
int netns_nlsock(struct nlsock *ret, int netns_fd, int protocol, struct err *);

/* Every live network namespace but our own, each once: those with a name, those of processes
 * (/proc/N/ns/net), those that only a mount (/proc/N/mountinfo) or an open descriptor (/proc/N/fd)
 * keeps. path: one by which it can be opened. A negative return of fn ends the walk and is
 * returned. -EMFILE, -ENFILE, -ENOMEM: some may have been missed. */
int netns_each(const struct hw *, int (*fn)(int netns_fd, const char *path, void *arg), void *arg);

/* Writes net/ipv4 or net/ipv6 conf settings of a netdev in that namespace: "arp_notify" = "1".
 * -ENOENT: this kernel has no such setting, or IPv6 is off. -EROFS: /proc/sys is read-only, as in
 * containers that are not privileged. */
struct sysctl_setting {
	int family;
	const char *key, *value;
};
int netns_sysctl(int netns_fd, const char *ifname, const struct sysctl_setting *, size_t n,
		 struct err *);

/* Tells the neighbours: a gratuitous ARP (RFC 5227, section 3; an ARP request of the address for
 * itself) for each IPv4 address, an unsolicited neighbour advertisement (RFC 9131; RFC 4861,
 * section 7.2.6) for each IPv6 one. Ethernet only. */
int netns_announce(int netns_fd, int ifindex, const uint8_t mac[6], const struct ip_prefix *,
		   size_t n, struct err *);
