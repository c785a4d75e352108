/* namespaces.h - network namespaces for tests. */
#pragma once

#include <stdbool.h>

/* Moves this process into a namespace of its own. NULL, or why that, or what `run` needs, cannot
 * be had here. */
const char *namespaces_enter(void);
/* Whether it could. */
bool namespaces_entered(void);
/* If not: says why and skips the test that runs. */
void namespaces_need(void);
/* Goes on in a process that sees no others than its own children in /proc; to be called before
 * anything else. NULL, or why that cannot be had here. */
const char *namespaces_enter_pids(void);
/* A new one that only the returned descriptor keeps. */
int namespace_new(void);
/* Runs a shell command, in the namespace if netns_fd >= 0; fails the test when it fails. */
__attribute__((format(printf, 2, 3))) void namespace_run(int netns_fd, const char *fmt, ...);
