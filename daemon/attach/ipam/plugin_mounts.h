/* SPDX-License-Identifier: Apache-2.0 */
/* plugin_mounts.h - the file system of a sandboxed program, set up by its supervisor in its own
 * mount namespace. Runs between clone and exec: no malloc, no stdio. */
#pragma once

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "plugin_sandbox.h"

/* Writes `what` and the name of errno to the program's standard error, and exits. */
__attribute__((noreturn)) static inline void plugin_sandbox_fail(const char *what)
{
	const char *why = strerrorname_np(errno);
	const char *const parts[] = {what, ": ", why ? why : "?"};

	for (int i = 0; i < 3; i++)
		if (write(STDERR_FILENO, parts[i], strlen(parts[i])) < 0)
			break;
	_exit(PLUGIN_SANDBOX_FAILED);
}

/* Makes all mounts read-only and without devices, makes hidden folders appear empty (also through
 * links), and mounts the given folders, and the folder of the program. Exits on any failure. */
void plugin_mounts_close(const struct plugin_sandbox *, const char *program);
