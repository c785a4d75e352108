/* SPDX-License-Identifier: Apache-2.0 */
/* kill_point.h - named places where a test build kills itself: ROCELET_KILL_AT=NAME in the
 * environment raises SIGKILL there. Compiled only with KILL_POINTS=1 make; a no-op otherwise. */
#pragma once

#ifdef ROCELET_KILL_POINTS
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Kills the process if ROCELET_KILL_AT selects this place. name: "attach-move", when: "before" or
 * "after". */
static inline void kill_point(const char *name, const char *when)
{
	const char *at = getenv("ROCELET_KILL_AT");
	size_t n = strlen(name);

	if (at && strncmp(at, name, n) == 0 && at[n] == '-' && strcmp(at + n + 1, when) == 0)
		kill(getpid(), SIGKILL);
}
#else
static inline void kill_point(const char *name, const char *when)
{
	(void)name;
	(void)when;
}
#endif
