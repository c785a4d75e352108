/* folders.h - like mkdir -p. */
#pragma once

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* The folder with those above it; what is there already keeps its mode. path is changed meanwhile.
 * Returns the last failure, which need not matter when the folder is there. */
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
