/* SPDX-License-Identifier: Apache-2.0 */
/* mountinfo.h - parses one line of /proc/PID/mountinfo (proc_pid_mountinfo(5)). Pure. The content
 * is untrusted: a pod may have chosen it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

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
/* The inode in "net:[4026531840]", the form of nsfs links and mounts; kind: "net". */
bool nsfs_inode(const char *name, const char *kind, uint64_t *ret);
