/* SPDX-License-Identifier: Apache-2.0 */
/* netns_walk.h - searches all references that can keep a network namespace alive, for netns.c and
 * netns_find.c. The walk opens no namespace: the links in /proc contain the inodes. */
#pragma once

#include "hw.h"

/* Opens the network namespace at a path without side effects on other kinds of files: a pod
 * controls its paths and descriptors. -EINVAL: not a network namespace. resolve: flags of
 * openat2(), 0 = the path is trusted. The caller closes it. */
int netns_open_at(int dir_fd, const char *path, uint64_t resolve);

/* Limits of one walk. Namespaces beyond them remain unknown. */
struct netns_budget {
	size_t namespaces, processes;
	/* Descriptors whose links are read: of all processes, and per user. */
	size_t descriptors, user_descriptors;
	/* Bytes of mountinfo: of all mount namespaces except that of process 1, and per user. */
	size_t mount_bytes, user_mount_bytes;
	uint64_t cpu_ns; /* CPU time of the thread */
};

extern const struct netns_budget netns_budget_usual;

struct netns_found {
	uint64_t ino; /* unique, because all are on one file system */
	char *path;   /* path to open it, valid as long as the found reference exists */
};

/* Owns its members; zero-initialised it is empty. */
struct netns_set {
	struct netns_found *items;
	size_t n;
	bool complete;	      /* everything was searched: other namespaces do not exist */
	size_t n_descriptors; /* number of links read */
};

/* Lists each namespace once, found in this order: names, processes, mounts, open files, so that
 * paths with a longer lifetime are preferred. -ENOMEM leaves *ret empty. */
int netns_walk(const struct hw *, const struct netns_budget *, struct netns_set *ret);
void netns_set_done(struct netns_set *);
