/* SPDX-License-Identifier: Apache-2.0 */
/* node_lock.h - ensures that only one rocelet at a time works on a node, whatever folders they use:
 * two with different folders would undo each other's attachments, and folders can be deleted and
 * created again.
 *
 * The lock is an abstract unix socket: the kernel gives its name to one process of a network
 * namespace, and frees it when the process ends in any way; there is no file that others can
 * delete, rename or lock. It belongs to the network namespace that we run in, which is where the
 * devices are that we attach to pods. Any process in this namespace may take the name first. Other
 * users, except root, cannot block us that way, even if their socket does not listen or answer
 * (from Linux 5.3 on). root can, and the message names the process. */
#pragma once

#include <uv.h>

#include "err.h"
#include "hw.h"

#define NODE_LOCK_NAME "rocelet-node"

struct node_lock {
	int fd; /* -1 = not locked */
	bool is_polled;
	uv_poll_t clients; /* accepts connections of processes that identify the owner */
};

/* Takes the lock. -EALREADY: another process has it; the message describes the process as far as
 * known. -EACCES: a process of another user has it. Other errors: such sockets are not available.
 */
int node_lock_take(struct node_lock *, const struct hw *, struct err *);
/* Accepts connections of processes that identify the owner, on the loop; stop before the release.
 */
void node_lock_serve(struct node_lock *, uv_loop_t *);
void node_lock_stop(struct node_lock *);
void node_lock_release(struct node_lock *);
