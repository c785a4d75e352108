/* SPDX-License-Identifier: Apache-2.0 */
/* listen.h - listening sockets: TCP (IPv4, IPv6 or both) and unix. Synchronous; all descriptors are
 * non-blocking and close-on-exec. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "err.h"

struct listen_address {
	char host[64]; /* numeric; "" = all addresses */
	unsigned port; /* 0 = any free one */
};

/* "ADDR:PORT", "[V6]:PORT" or ":PORT". Pure; false: not of that form, *ret untouched. Does not
 * check whether ADDR is an address; listen_tcp() does. */
bool listen_address_parse(const char *s, struct listen_address *ret);

/* Checks an address without opening anything: 0, or -EINVAL with a message. */
int listen_check(const char *address, struct err *);

/* Returns the listening socket; *ret_port (may be NULL) is the port in use. All addresses means one
 * socket for IPv6 and IPv4, or IPv4 alone if the host has no IPv6. */
int listen_tcp(const char *address, unsigned *ret_port, struct err *);

/* Returns the listening socket; its file has exactly this mode from the start. Replaces a stale
 * socket file; -EADDRINUSE if it is in use; any other file is left alone. */
int listen_unix(const char *path, unsigned mode, struct stat *ret_file, struct err *);
/* Does the file still exist, and is it still ours? */
bool listen_is_own(const char *path, const struct stat *file);
/* Removes it in that case. */
void listen_unlink(const char *path, const struct stat *file);
