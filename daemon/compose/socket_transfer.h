/* SPDX-License-Identifier: Apache-2.0 */
/* socket_transfer.h - passes the sockets and connections of the kubelet from a rocelet to its
 * successor.
 *
 * The successor listens on <run-dir>/successor.sock before it requests the node. The predecessor
 * sends sockets and connections there (SCM_RIGHTS) when it has stopped, and releases its locks
 * after that. So once the successor has the locks, everything has been sent. One message of unix(7)
 * per resource, one per connection, one at the end. */
#pragma once

#include "err.h"
#include "kubelet.h"

/* For the successor: returns a listening descriptor, or negative errno. */
int socket_transfer_listen(const char *run_dir, struct err *);
/* For the successor: receives all messages sent so far. Call until the locks are taken, and once
 * after that. Messages of a predecessor of another version are ignored. */
void socket_transfer_receive(int fd, struct kubelet_sockets *ret);
/* For the successor: stops listening. fd may be -1. */
void socket_transfer_close(int fd, const char *run_dir);

/* For the predecessor: sends all sockets, within at most a second. < 0: no successor listens (an
 * older version), or not everything was sent. The caller keeps ownership. */
int socket_transfer_send(const char *run_dir, const struct kubelet_sockets *, struct err *);
