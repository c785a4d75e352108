/* SPDX-License-Identifier: Apache-2.0 */
/* hand_over.h - hands a node from one rocelet to its successor, while the kubelet keeps advertising
 * its devices.
 *
 * The successor is started with --take-over and finds the folders locked: it requests the node over
 * the admin socket of the predecessor. The predecessor stops as usual, but passes the kubelet's
 * sockets and connections to the successor (socket_transfer.h), which uses them when it has the
 * locks. The predecessor stays until it is terminated, because its supervisor would restart it. If
 * the successor's version does not support this, nothing is passed: the connections stay open here,
 * without traffic, while the successor registers again. Kubelets before 1.25 then keep the devices.
 */
#pragma once

#include "err.h"
#include "kubelet.h"

/* "namespace/name" of rocelet's pod; "": not in a pod. */
#define HAND_OVER_POD_SIZE 320

/* Writes the name of our own pod, from POD_NAMESPACE and POD_NAME (set by the downward API). */
void hand_over_self(char pod[HAND_OVER_POD_SIZE]);

/* Requests the node from the rocelet that serves <run-dir>/rocelet.sock; blocks until it has
 * answered, for at most wait_ms. *predecessor: its pod. -ENOTCONN, -ETIMEDOUT and similar errors:
 * no rocelet answers (yet); -EBUSY: it rejects the request, with the reason in the message. */
int hand_over_request(char predecessor[HAND_OVER_POD_SIZE], const char *run_dir, uint64_t wait_ms,
		      struct err *);

/* Blocks until SIGTERM or SIGINT (0), or until the lock of the folder has been free for some
 * seconds because the successor has exited (-EOWNERDEAD). Frees the sockets, which have the
 * connections that were not passed to the successor. Each connection is kept until the kubelet
 * closes it, or sends a request, which then fails as if no rocelet was running. No connection is
 * kept longer than a successor needs to register its resource. */
int hand_over_linger(struct kubelet_sockets *, const char *folder);
