/* SPDX-License-Identifier: Apache-2.0 */
/* plugin_sandbox.h - runs a program of another vendor as root in a sandbox, with almost none of
 * root's privileges. Needs Linux 5.12 (mount_setattr(2)).
 *
 * The sandbox has its own namespaces: of processes, so that everything that the program starts,
 * even in the background, dies with the first process; of mounts, where everything is read-only and
 * without devices except the given folders, and where the sockets of the host's services are hidden
 * (plugin_mounts.c); of the network, which is empty unless the host's is granted; of IPC. The
 * program has only the given capabilities, and executing another program adds none. Memory, files
 * and CPU time are limited, and so is the total number of processes and threads: RLIMIT_NPROC does
 * not bind real uid 0 (copy_process() in linux/kernel/fork.c), and we may be unable to create a
 * cgroup, so the program has a real uid that nothing else uses and that it cannot change. Its
 * effective uid is still root, so it can read root's files in its mounts. A service would accept it
 * as root, too, so it cannot create unix sockets unless that is granted. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

/* Maximum number of processes and threads at a time. */
#define PLUGIN_SANDBOX_TASKS_MAX 256

#define PLUGIN_SANDBOX_WRITABLE_MAX 8
#define PLUGIN_SANDBOX_HIDDEN_MAX   16

struct plugin_sandbox {
	const char *name;    /* of the program */
	const char *folders; /* absolute, separated by ':'; the first that has the program counts */
	char *const *env;
	const int *fds; /* its standard input, output and error */
	bool host_network;
	bool unix_sockets;     /* may connect to services in a writable folder */
	uint64_t capabilities; /* bit numbers: CAP_NET_ADMIN etc. of linux/capability.h */
	/* Folders it may write to, created if missing; up to the first NULL. */
	const char *const *writable;
	/* Folders that appear empty and files that are hidden, in addition to those that always are
	 * (/run, /tmp ..), except for parts that are writable or hold the program; up to the first
	 * NULL. */
	const char *const *hidden;
	unsigned real_uid; /* set by plugin_sandbox_start() */
};

struct plugin_process {
	int pid_fd;  /* readable once all processes of the sandbox have ended; see
		      * plugin_sandbox_status() */
	int life_fd; /* closing it, also by our exit, kills all processes of the sandbox */
};

/* The caller closes the descriptors in *ret. If the sandbox cannot be set up for the program, the
 * reason is on its standard error and its exit status is PLUGIN_SANDBOX_FAILED. -EPERM: we may not
 * create namespaces. The sandbox itself searches for the program, because a folder may be on a file
 * system that does not answer. */
#define PLUGIN_SANDBOX_FAILED 127
int plugin_sandbox_start(struct plugin_process *ret, const struct plugin_sandbox *, struct err *);
/* Kills all processes of the sandbox; the caller still has to wait for their end. */
void plugin_sandbox_kill(const struct plugin_process *);
/* Reaps the sandbox; only one call succeeds. *ret_status: the exit status of the program, or the
 * negative number of the signal that killed it; PLUGIN_SANDBOX_MISSING: no folder has the program.
 * -EAGAIN: it is still running. */
#define PLUGIN_SANDBOX_MISSING 256
int plugin_sandbox_status(const struct plugin_process *, int *ret_status);
