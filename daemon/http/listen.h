/* SPDX-License-Identifier: Apache-2.0 */
/* listen.h - listening sockets: TCP (IPv4, IPv6 or both) and unix. Synchronous; all descriptors are
 * non-blocking and close-on-exec. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "err.h"

/* The address is one of listen_address.h. Returns the listening socket; *ret_port (may be NULL) is
 * the port in use. All addresses means one socket for IPv6 and IPv4, or IPv4 alone if the host has
 * no IPv6. */
int listen_tcp(const char *address, unsigned *ret_port, struct err *);

/* Returns the listening socket; its file has exactly this mode from the start. Replaces a stale
 * socket file; -EADDRINUSE if it is in use; any other file is left alone. */
int listen_unix(const char *path, unsigned mode, struct stat *ret_file, struct err *);
/* Does the file still exist, and is it still ours? */
bool listen_is_own(const char *path, const struct stat *file);
/* Removes it in that case. */
void listen_unlink(const char *path, const struct stat *file);
