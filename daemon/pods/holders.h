/* SPDX-License-Identifier: Apache-2.0 */
/* holders.h - the allocations on this node: which container has which device, and which pods run.
 *
 * It joins three sources, none of which is complete: the kubelet (PodResources, and its checkpoint
 * for init containers), Allocate, which comes before the other two know (reservations.h), and the
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
	bool polls; /* poll the kubelet even if nothing is held, because no Allocate reaches us */
};

struct holders_hooks {
	/* The kubelet has answered or failed. changed: the allocations changed. answered_ms: loop
	 * time at which the kubelet's own list, if this is one, was requested; 0: it is none. */
	void (*held)(bool changed, uint64_t answered_ms, void *arg);
	/* The runtime has answered or failed. */
	void (*sandboxes)(void *arg);
	void *arg;
};

/* Asks the kubelet at once, and whenever something may have changed; the runtime only after
 * holders_watch_sandboxes(). */
int holders_open(struct holders **ret, struct uv_loop_s *, const struct holders_opts *,
		 const struct holders_hooks *, struct err *);
/* NULL is fine. Freed when the loop has no handles left. */
void holders_close(struct holders *);

/* --- allocations ------------------------------------------------------------------------------ */

/* The kubelet has reported its allocations, or the wait for them timed out. */
bool holders_known(const struct holders *);
/* Everything that is reserved or held; borrowed until the next loop iteration. */
const struct pod_list *holders_held(const struct holders *);
/* As holders_held(), with the state of each ID. */
const struct reservations *holders_reservations(const struct holders *);
/* The device nodes that containers were given, from the kubelet's current checkpoint, or from the
 * last one that could be read; borrowed until the next loop iteration. */
const struct granted_list *holders_granted(struct holders *);
/* The error of the last query of the kubelet; "" if it succeeded. */
const char *holders_trouble(const struct holders *);
/* The kubelet's own list is available and worth waiting for; pod_resources_answers(). */
bool holders_answer(const struct holders *);
/* Asks the kubelet. Requests made before the query is sent are served by that one query. */
void holders_ask(struct holders *);
/* Like reservations_add(), _note_start() and _note_end(), at the current time. */
int holders_reserve(struct holders *, const char *resource, const char *id);
int holders_note_start(struct holders *, const char *resource, const char *id);
void holders_note_end(struct holders *, const char *resource, const char *id);

/* --- running pods ----------------------------------------------------------------------------- */

/* Starts to watch the runtime; further calls have no effect. */
int holders_watch_sandboxes(struct holders *, struct err *);
/* The last known sandboxes; unknown while the runtime is not watched. Borrowed until the next loop
 * iteration. */
const struct sandbox_list *holders_sandboxes(const struct holders *);
/* Asks the kubelet, and the runtime if it is watched. */
void holders_ask_all(struct holders *);
/* True while a caller waits for a sandbox: the runtime is polled more often. */
void holders_expect_sandboxes(struct holders *, bool);
/* False: the runtime is not watched, and *ret is zeroed. */
bool holders_runtime(const struct holders *, struct cri_status *ret);
