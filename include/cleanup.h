/* SPDX-License-Identifier: Apache-2.0 */
/* cleanup.h - automatic cleanup at the end of a scope; `take_` makes a transfer of ownership
 * visible. */
#pragma once

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}

#define AUTO_FD	  __attribute__((cleanup(cleanup_fd))) int
#define AUTO_FREE __attribute__((cleanup(cleanup_free)))
#define AUTO_DIR  __attribute__((cleanup(cleanup_dir))) DIR *

static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

#define take_ptr(p)                                                                                \
	({                                                                                         \
		__typeof__(p) taken_ = (p);                                                        \
		(p) = NULL;                                                                        \
		taken_;                                                                            \
	})

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
