/* estate.h - how what the kubelet is connected to goes from one rocelet to its successor.
 *
 * The successor listens on <run-dir>/successor.sock before it asks for the node. The predecessor
 * sends sockets and connections there (SCM_RIGHTS) when it has stopped, and only then gives up its
 * locks: who has the locks has all that there is. A message of unix(7) for each resource, one for
 * each connection, one at the end. */
#pragma once

#include "err.h"
#include "kubelet.h"

/* The successor: a listening descriptor, or negative errno. */
int estate_listen(const char *run_dir, struct err *);
/* The successor: takes what has been sent by now, if anything has; called until the locks are had,
 * and once after. Of another version's predecessor nothing is taken. */
void estate_receive(int fd, struct kubelet_estate *ret);
/* The successor: no more of it. fd -1 is fine. */
void estate_close(int fd, const char *run_dir);

/* The predecessor: sends all of it, for a second at most. < 0: nobody listens (an older version),
 * or not all could be sent. It stays the caller's. */
int estate_send(const char *run_dir, const struct kubelet_estate *, struct err *);
