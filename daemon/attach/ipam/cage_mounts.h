/* cage_mounts.h - the file system of a caged program, made by its keeper in a mount namespace of
 * its own. Between clone and exec: no malloc, no stdio. */
#pragma once

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cage.h"

/* To the program's standard error, and ends the process. */
__attribute__((noreturn)) static inline void cage_fail(const char *what)
{
	const char *why = strerrorname_np(errno);
	const char *const parts[] = {what, ": ", why ? why : "?"};

	for (int i = 0; i < 3; i++)
		if (write(STDERR_FILENO, parts[i], strlen(parts[i])) < 0)
			break;
	_exit(CAGE_FAILED);
}

/* All is read-only and without devices; what is hidden is empty, wherever a link to it leads; what
 * the cage gives is there again. Ends the process if any of that cannot be had. */
void cage_mounts_close(const struct cage *);
