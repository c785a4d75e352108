/* hand_over.h - a node is handed from one rocelet to its successor, and the kubelet goes on
 * offering its devices meanwhile.
 *
 * The successor is started with --take-over and finds the folders locked: it asks who has them,
 * over the admin socket. The predecessor stops as ever, but for what the kubelet sees: its
 * sockets and connections go to the successor (estate.h), which goes on with them when it has the
 * locks. The predecessor stays until it is told to end, since who watches over it would start it
 * again. To a successor of a version that knows no estate nothing goes: the connections stay open
 * and silent here while it registers anew, which kubelets before 1.25 do not notice. */
#pragma once

#include "err.h"
#include "kubelet.h"

/* "namespace/name" of the pod that a rocelet is in; "": it is in none. */
#define HAND_OVER_POD_SIZE 320

/* Our own pod, from POD_NAMESPACE and POD_NAME (the downward API sets them). */
void hand_over_self(char pod[HAND_OVER_POD_SIZE]);

/* Asks who serves <run-dir>/rocelet.sock; blocks until it has answered, for wait_ms at most.
 * *predecessor: its pod. -ENOTCONN, -ETIMEDOUT and the like: nobody can be asked (yet); -EBUSY: it
 * refuses, and says why. */
int hand_over_ask(char predecessor[HAND_OVER_POD_SIZE], const char *run_dir, uint64_t wait_ms,
		  struct err *);

/* Lives until SIGTERM or SIGINT (0), or until nobody has had the lock of the folder for some
 * seconds: the successor is gone for good (-EOWNERDEAD). Uses the estate up, which is what could
 * not be given to the successor: holds each connection until the kubelet hangs up, or asks
 * something, which then fails as it does while no rocelet runs; and none for longer than a
 * successor takes that registers the same resource. Blocks. */
int hand_over_linger(struct kubelet_estate *, const char *folder);
