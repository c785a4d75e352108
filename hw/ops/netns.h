/* netns.h - named network namespaces, and sockets inside them. */
#pragma once

#include "hw.h"

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
