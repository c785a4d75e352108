/* uds_socket.h - unix stream sockets by path: listening and connected ones, as descriptors. */
#pragma once

#include <stdint.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "err.h"

/* -ENAMETOOLONG above sun_path. */
int uds_address(struct sockaddr_un *ret, const char *path, struct err *);

/* A listening socket whose file appears at the path in one step, over a socket that is there
 * (-EEXIST for anything else), so that whoever sees the file can connect. ret_file: the file, for
 * uds_is_ours(). Descriptor or negative errno. */
int uds_listen(const struct sockaddr_un *, uint32_t mode, struct stat *ret_file, struct err *);
/* Same device and inode; the inode lives as long as the socket does, its number is not used again.
 */
bool uds_is_ours(const struct sockaddr_un *, const struct stat *file);

/* Connected or refused at once, as unix sockets are: descriptor or negative errno. -EAGAIN: there
 * is a listener, its queue is full. */
int uds_connect(const struct sockaddr_un *);
/* The other side has closed it, even if there is something left to read. */
bool uds_is_hung_up(int fd);
/* The peer has neither hung up nor said anything that was not read. */
bool uds_is_silent(int fd);
