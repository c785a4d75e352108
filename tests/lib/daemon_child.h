/* SPDX-License-Identifier: Apache-2.0 */
/* daemon_child.h - runs the whole daemon in a child process, and queries it over its socket. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "loop.h"

uint64_t monotonic_ms(void);
/* log: a file for its log; NULL = our stderr, errors only. */
pid_t daemon_start(const struct launch *, const char *log);
/* The same from a command line, like main(). argv ends with NULL and must stay valid. */
pid_t daemon_start_argv(char *const argv[], const char *log);
/* Returns its exit code, or the negative number of the signal that killed it. */
int daemon_stop(pid_t, int signum);

int connect_unix(const char *path);
/* The whole reply to GET url; "" without a reply. */
void http_get(const char *socket_path, const char *url, char *ret, size_t size);
/* Repeats the request until the reply contains `wanted`; fails the test on a timeout. */
void http_get_until(const char *socket_path, const char *url, const char *wanted, char *ret,
		    size_t size);
