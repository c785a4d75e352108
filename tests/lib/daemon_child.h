/* daemon_child.h - the whole daemon in a child process, and what one asks it over its socket. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "loop.h"

uint64_t monotonic_ms(void);
/* Runs it in a child; log: a file for its log, NULL = ours, errors only. */
pid_t daemon_start(const struct launch *, const char *log);
/* The same from a command line, as main() does. argv ends with NULL and stays valid. */
pid_t daemon_start_argv(char *const argv[], const char *log);
/* Its exit code, or a signal's number below zero. */
int daemon_stop(pid_t, int signum);

int connect_unix(const char *path);
/* The whole answer to GET url; "" when nobody answers. */
void http_get(const char *socket_path, const char *url, char *ret, size_t size);
/* Asks again until the answer contains `wanted`; fails the test otherwise. */
void http_get_until(const char *socket_path, const char *url, const char *wanted, char *ret,
		    size_t size);
