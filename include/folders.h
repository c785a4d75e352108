/* SPDX-License-Identifier: Apache-2.0 */
/* folders.h - creates folders, like mkdir -p. */
#pragma once

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* Creates the folder and its parents; existing folders keep their mode. Modifies path during the
 * call and restores it. Returns the last failure; it may not matter if the folder exists. */
static inline int make_folders(char *path, mode_t mode)
{
	int r = 0;

	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		r = mkdir(path, mode) < 0 && errno != EEXIST ? -errno : 0;
		*slash = '/';
	}
	return mkdir(path, mode) < 0 && errno != EEXIST ? -errno : r;
}
