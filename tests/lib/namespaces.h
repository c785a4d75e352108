/* SPDX-License-Identifier: Apache-2.0 */
/* namespaces.h - network namespaces for tests. */
#pragma once

#include <stdbool.h>

/* Moves this process into a new namespace. Returns NULL, or why namespaces or the tools for
 * namespace_run() are not available. */
const char *namespaces_enter(void);
/* True if namespaces_enter() succeeded. */
bool namespaces_entered(void);
/* Otherwise prints the reason and skips the current test. */
void namespaces_need(void);
/* Continues in a child in a new PID namespace, whose /proc shows only its own children; to be
 * called before anything else. Returns NULL, or why that is not available. */
const char *namespaces_enter_pids(void);
/* Creates a namespace that only the returned descriptor keeps alive. */
int namespace_new(void);
/* Runs a shell command, in the namespace if netns_fd >= 0; asserts success. */
__attribute__((format(printf, 2, 3))) void namespace_run(int netns_fd, const char *fmt, ...);
