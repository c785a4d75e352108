/* SPDX-License-Identifier: Apache-2.0 */
/* host_view.h - finds out which parts of the host are visible to us: a container may not see the
 * host's processes or mounts. Also reads the boot id. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "attachment.h"
#include "hw.h"

struct host_view {
	bool first_pids; /* our PID namespace is the initial one */
	int runtime_pid; /* PID of the container runtime in our PID namespace; 0: not visible there,
			    -1: could not connect to its socket */
	int process_error; /* errno of reading the namespace of process 1, 0 = success */
	bool own_mounts;   /* our mount namespace is not that of process 1 */
	int root_error;	   /* errno of opening the root of process 1, 0 = success */
	bool follows;	   /* host mounts in /run/netns propagate to our mount namespace */
};

/* Determines the view; runtime_socket: path of the container runtime's socket, "" = unknown. Does
 * not block. */
void host_view_read(const struct hw *, const char *runtime_socket, struct host_view *ret);
/* Pure: returns 0 if the view suffices to distinguish a removed namespace from an invisible one,
 * else a negative errno, with the missing permission in the message. -EAGAIN: unknown until the
 * runtime answers. */
int host_view_judge(const struct host_view *, struct err *);

/* Reads the kernel's boot id, chosen at random at each boot
 * (linux/Documentation/admin-guide/sysctl/kernel.rst, "random"): 36 characters. "" if it cannot be
 * read or has another length. */
void boot_id_read(const struct hw *, char ret[BOOT_ID_SIZE]);

/* Parses one line of /proc/PID/mountinfo (proc_pid_mountinfo(5)). The content is untrusted: a
 * pod may have chosen it. */

struct mount_line {
	const char *root;  /* root within the file system; for nsfs "net:[4026532001]" */
	const char *point; /* relative to the root directory of the process */
	const char *type;  /* file system type, "nsfs" */
	bool shared;	   /* mounts propagate to and from its peers */
	bool slave;	   /* mounts propagate to it from its master */
};

/* Splits the line in place; the result points into it. The line end is optional. False: not a valid
 * line. */
bool mountinfo_parse(char *line, struct mount_line *ret);
/* Parses the inode in "net:[4026531840]", the form of nsfs links and mounts; kind: "net". */
bool nsfs_inode(const char *name, const char *kind, uint64_t *ret);
