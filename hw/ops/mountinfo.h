/* mountinfo.h - one line of /proc/PID/mountinfo (proc_pid_mountinfo(5)). Pure: what stands there a
 * pod may have chosen. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct mount_line {
	const char *root;  /* of the mount in its file system; of nsfs "net:[4026532001]" */
	const char *point; /* below the root directory of the process */
	const char *type;  /* of the file system, "nsfs" */
	bool shared;	   /* mounts made here appear in its peers, and theirs here */
	bool slave;	   /* what is mounted in another one appears here */
};

/* Splits the line, which it changes and which the result points into; a line end is not needed.
 * False: it is none. */
bool mountinfo_parse(char *line, struct mount_line *ret);
/* The number in "net:[4026531840]", what a link or a mount of nsfs is called. */
bool nsfs_inode(const char *name, const char *kind, uint64_t *ret);
