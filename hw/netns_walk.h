/* netns_walk.h - what netns_ops.c and netns_find.c share, for nobody else. Descriptors are the
 * caller's; -EINVAL: not a network namespace. */
#pragma once

/* A path of a process whose root directory this is; symbolic links stay below it. */
int netns_open_below(int root_fd, const char *path);
/* "17/ns/net", "17/fd/4" */
int netns_open_proc(int proc_fd, const char *path);
