/* netns_walk.h - the walk over everything that can keep a network namespace, for netns.c and
 * netns_find.c. Nothing is opened on the way: the links in /proc tell the inodes. */
#pragma once

#include "hw.h"

/* Opens the network namespace that a path leads to, without any effect on what else it may lead to:
 * a pod chooses what its paths and descriptors are. -EINVAL: it is none. resolve: of openat2(), 0 =
 * the path is trusted to lead anywhere. The caller closes it. */
int netns_open_at(int dir_fd, const char *path, uint64_t resolve);

/* What one walk may cost. What it does not reach is not known. */
struct netns_budget {
	size_t namespaces, processes;
	/* Open files whose links are read: of all processes, and of one user's. */
	size_t descriptors, user_descriptors;
	/* Of mountinfo: of all mount namespaces but the first process's, and of one user's. */
	size_t mount_bytes, user_mount_bytes;
	uint64_t cpu_ns; /* of the thread */
};

extern const struct netns_budget netns_budget_usual;

struct netns_found {
	uint64_t ino; /* all are on one file system */
	char *path;   /* by which it may be opened as long as what keeps it lives */
};

/* Owns everything; zero-initialised it is empty. */
struct netns_set {
	struct netns_found *items;
	size_t n;
	bool complete; /* everything that can be seen was looked at: what is not in it is not */
	size_t n_descriptors; /* whose links were read */
};

/* Each once, the lasting ways to it first: names, the processes inside, mounts, open files. -ENOMEM
 * leaves *ret empty. */
int netns_walk(const struct hw *, const struct netns_budget *, struct netns_set *ret);
void netns_set_done(struct netns_set *);
