/* cage.h - runs a program that somebody else wrote as root, with next to nothing of root. Linux
 * 5.12 (mount_setattr(2)).
 *
 * Namespaces of its own: of processes, so that all that it starts, however it hides, dies with the
 * first of them; of mounts, where all is read-only and without devices but the folders that it is
 * given, and where services of the host listen is hidden (cage_mounts.c); of the network, empty,
 * unless it is given the host's; of IPC. No capabilities but those that it is given, and none to be
 * had by running another program. Limits on memory, files and CPU time, and on its processes and
 * threads together: RLIMIT_NPROC does not bind real uid 0 (copy_process() in linux/kernel/fork.c),
 * and a cgroup need not be ours to make, so its real uid is one that nobody else has and that it
 * cannot change. It is root by its effective uid still: what root owns and it can see it may read.
 * A service would take it for root, too: it can make no unix sockets unless it is given that. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

/* Processes and threads at a time. */
#define CAGE_TASKS_MAX 256

#define CAGE_WRITABLE_MAX 8
#define CAGE_HIDDEN_MAX	  16

struct cage {
	const char *program; /* absolute */
	char *const *env;
	const int *fds; /* its standard input, output and error */
	bool host_network;
	bool unix_sockets;     /* to connect to what listens in a writable folder */
	uint64_t capabilities; /* bits by CAP_NET_ADMIN .. of linux/capability.h */
	/* Folders it may write to, made if they are not there; up to the first NULL. */
	const char *const *writable;
	/* Folders that are empty and files that are there no more, beside those that always are
	 * (/run, /tmp ..), as far as they are not writable ones or hold the program; up to the
	 * first NULL. */
	const char *const *hidden;
	unsigned real_uid; /* cage_start() chooses it */
};

struct caged {
	int pid_fd;  /* readable once everything in the cage is dead; cage_status() */
	int life_fd; /* closed, also by our death: everything in the cage dies */
};

/* *ret is the caller's to close. Of what the program cannot be given it is told on its standard
 * error, and it ends with CAGE_FAILED. -EPERM: we may make no namespaces. */
#define CAGE_FAILED 127
int cage_start(struct caged *ret, const struct cage *, struct err *);
/* Kills everything in it; the end is still to be waited for. */
void cage_kill(const struct caged *);
/* How the program ended, once: its exit status, or below 0 the signal that killed it. -EAGAIN: it
 * has not. */
int cage_status(const struct caged *, int *ret_status);
