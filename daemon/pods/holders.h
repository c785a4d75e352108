/* SPDX-License-Identifier: Apache-2.0 */
/* holders.h - the allocations on this node: which container has which device, and which pods run.
 *
 * It joins three sources, none of which is complete: the kubelet (PodResources, and its checkpoint
 * for init containers), Allocate, which precedes entries in the other two (reservations.h), and the
 * sandboxes of the container runtime. The device plugin and the attach engine share it. */
#pragma once

#include "err.h"
#include "granted.h"
#include "reservations.h"
#include "sandbox.h"

struct uv_loop_s;
struct holders;

struct holders_opts {
	const char *kubelet_dir; /* copied, like cri_socket */
	/* Folder of the PodResources socket, in the kubelet's --root-dir; "" = in kubelet_dir. */
	const char *pod_resources;
	const char *cri_socket; /* "" = detect (cri.h) */
	bool polls; /* poll the kubelet even if nothing is allocated, because we get no Allocate
		     * requests */
};

struct holders_hooks {
	/* The kubelet has answered or failed. changed: the allocations changed. answered_ms: loop
	 * time at which the kubelet's own list was requested; 0: this is not the kubelet's own
	 * list. */
	void (*held)(bool changed, uint64_t answered_ms, void *arg);
	/* The runtime has answered or failed. */
	void (*sandboxes)(void *arg);
	void *arg;
};

/* Queries the kubelet at once, and whenever allocations may have changed; queries the runtime only
 * after holders_watch_sandboxes(). */
int holders_open(struct holders **ret, struct uv_loop_s *, const struct holders_opts *,
		 const struct holders_hooks *, struct err *);
/* Closes the object, which is freed when the loop has no handles left. May be NULL. */
void holders_close(struct holders *);

/* --- allocations ------------------------------------------------------------------------------ */

/* True if the kubelet has reported its allocations, or the wait for them timed out. */
bool holders_known(const struct holders *);
/* Returns all reserved or allocated devices; borrowed until the next loop iteration. */
const struct pod_list *holders_held(const struct holders *);
/* Like holders_held(), with the state of each ID. */
const struct reservations *holders_reservations(const struct holders *);
/* Returns the device nodes that containers were given, from the kubelet's current checkpoint, or
 * from the last one that could be read; borrowed until the next loop iteration. */
const struct granted_list *holders_granted(struct holders *);
/* Returns the error of the last query of the kubelet; "" if it succeeded. */
const char *holders_error(const struct holders *);
/* True if the kubelet is likely to answer a query soon; see pod_resources_answers(). */
bool holders_kubelet_answers(const struct holders *);
/* Queries the kubelet. One query serves all calls that were made before it is sent. */
void holders_request(struct holders *);
/* Like reservations_add(), _note_start() and _note_end(), at the current time. */
int holders_reserve(struct holders *, const char *resource, const char *id);
int holders_note_start(struct holders *, const char *resource, const char *id);
void holders_note_end(struct holders *, const char *resource, const char *id);

/* --- running pods ----------------------------------------------------------------------------- */

/* Starts to watch the runtime; further calls have no effect. */
int holders_watch_sandboxes(struct holders *, struct err *);
/* Returns the last known sandboxes; unknown while the runtime is not watched. Borrowed until the
 * next loop iteration. */
const struct sandbox_list *holders_sandboxes(const struct holders *);
/* Queries the kubelet, and the runtime if it is watched. */
void holders_request_all(struct holders *);
/* Call with true while a caller waits for a sandbox: the runtime is then polled more often. */
void holders_expect_sandboxes(struct holders *, bool);
/* False: the runtime is not watched, and *ret is zeroed. */
bool holders_runtime(const struct holders *, struct cri_status *ret);
