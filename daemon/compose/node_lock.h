/* node_lock.h - one rocelet at a time works on a node, whatever folders it has: two with folders of
 * their own would undo each other's attachments, and folders can be deleted and made again.
 *
 * The lock is an abstract unix socket: the kernel gives its name to one process of a network
 * namespace, and takes it back when that ends, however it ends; there is no file that can be
 * deleted, renamed or locked by others. It is of the network namespace that we run in, since that
 * is where the devices are that we give away. Whoever may run programs there may take the name
 * first. A user who is neither root nor ours keeps nobody out by that, also when nothing listens
 * there or answers (from Linux 5.3 on); root does, and the sentence has its process. */
#pragma once

#include <uv.h>

#include "err.h"
#include "hw.h"

#define NODE_LOCK_NAME "rocelet-node"

struct node_lock {
	int fd; /* -1 = not had */
	bool is_polled;
	uv_poll_t asked; /* who asks which process has it */
};

/* -EALREADY: another process has it, and the sentence says which, as far as can be seen. -EACCES:
 * so, and it is another user's. Any other error: there are no such sockets here. */
int node_lock_take(struct node_lock *, const struct hw *, struct err *);
/* Answers those who ask, from the loop; stopped before it is released. */
void node_lock_serve(struct node_lock *, uv_loop_t *);
void node_lock_stop(struct node_lock *);
void node_lock_release(struct node_lock *);
