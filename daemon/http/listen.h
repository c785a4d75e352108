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

/* "ADDR:PORT", "[V6]:PORT" or ":PORT". Pure; false: not of that form, *ret untouched. Whether ADDR
 * is an address is for listen_tcp() to find out. */
bool listen_address_parse(const char *s, struct listen_address *ret);

/* Would listen_tcp() know what is meant? 0, or -EINVAL and its sentence; nothing is opened. */
int listen_check(const char *address, struct err *);

/* The socket, listening; *ret_port (may be NULL) is the port in use. All addresses means one socket
 * for IPv6 and IPv4, or IPv4 alone where the host has no IPv6. */
int listen_tcp(const char *address, unsigned *ret_port, struct err *);

/* The socket, listening, its file with exactly this mode from its first moment. A socket file that
 * nobody serves is replaced; one that is served is -EADDRINUSE; anything else is left alone. */
int listen_unix(const char *path, unsigned mode, struct stat *ret_file, struct err *);
/* That file is still there, and nobody has put theirs in its place. */
bool listen_is_own(const char *path, const struct stat *file);
/* Removes it if so. */
void listen_unlink(const char *path, const struct stat *file);
