// SPDX-License-Identifier: Apache-2.0
#include "fds.h"

#include <dirent.h>

unsigned fds_open(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}
