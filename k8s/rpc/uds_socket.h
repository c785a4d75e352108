/* SPDX-License-Identifier: Apache-2.0 */
/* uds_socket.h - unix stream sockets by path: listening and connected ones, as descriptors. */
#pragma once

#include <stdint.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "err.h"

/* Makes an address. -ENAMETOOLONG: the path does not fit sun_path. */
int uds_address(struct sockaddr_un *ret, const char *path, struct err *);

/* Creates a listening socket whose file appears at the path atomically, replacing an existing
 * socket (-EEXIST for any other file), so that a client that sees the file can connect. ret_file:
 * the file, for uds_is_ours(). Returns a descriptor or negative errno. */
int uds_listen(const struct sockaddr_un *, uint32_t mode, struct stat *ret_file, struct err *);
/* True if the path still has the same device and inode. The inode exists as long as the socket, so
 * its number is not reused. */
bool uds_is_ours(const struct sockaddr_un *, const struct stat *file);

/* Connects or fails at once, as is usual for unix sockets: returns a descriptor or negative errno.
 * -EAGAIN: there is a listener, but its queue is full. */
int uds_connect(const struct sockaddr_un *);
/* True if the peer has closed the connection, even if there is still something to read. */
bool uds_is_hung_up(int fd);
/* True if the peer has neither closed the connection nor sent unread bytes. */
bool uds_is_silent(int fd);
