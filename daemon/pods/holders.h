/* holders.h - who holds what on this node: which container has which device, and which pods run.
 *
 * Three tell it, none of them all of it: the kubelet (PodResources, and its checkpoint for init
 * containers), Allocate, which comes before either knows (reservations.h), and the container
 * runtime with its sandboxes. The device plugin and the attach engine read the same. */
#pragma once

#include "err.h"
#include "granted.h"
#include "reservations.h"
#include "sandbox.h"

struct uv_loop_s;
struct holders;

struct holders_opts {
	const char *kubelet_dir; /* copied, as below */
	const char *cri_socket;	 /* "" = whichever is there (cri.h) */
	bool polls;		 /* nobody tells when something was given away */
};

struct holders_hooks {
	/* The kubelet has been asked. changed: something else is held. answered_ms: loop time at
	 * which its own list was asked for, that counts now; 0: it has given none. */
	void (*held)(bool changed, uint64_t answered_ms, void *arg);
	/* The runtime has been asked. */
	void (*sandboxes)(void *arg);
	void *arg;
};

/* Asks the kubelet at once, and whenever something may have changed; the runtime not before
 * holders_watch_sandboxes(). */
int holders_open(struct holders **ret, struct uv_loop_s *, const struct holders_opts *,
		 const struct holders_hooks *, struct err *);
/* NULL is fine. Gone when the loop has run out of handles. */
void holders_close(struct holders *);

/* --- what the kubelet gives away ---------------------------------------------------------------
 */

/* The kubelet has said who holds what, or was waited for in vain. */
bool holders_known(const struct holders *);
/* Everything that is reserved or held; borrowed until the loop goes on. */
const struct pod_list *holders_held(const struct holders *);
/* The same, by what became of an ID. */
const struct reservations *holders_reservations(const struct holders *);
/* The device nodes that containers were given, as the kubelet's checkpoint is now; borrowed until
 * the loop goes on. While that cannot be read, as it was last. */
const struct granted_list *holders_granted(struct holders *);
/* Why the kubelet's last answer was none, "" = it was one. */
const char *holders_trouble(const struct holders *);
/* The kubelet's own list is near, and worth waiting for; pod_resources_answers(). */
bool holders_answer(const struct holders *);
/* The kubelet is to be asked: every request made before the question is sent is answered by it. */
void holders_ask(struct holders *);
/* As reservations_add(), _note_start() and _note_end(), now. */
int holders_reserve(struct holders *, const char *resource, const char *id);
int holders_note_start(struct holders *, const char *resource, const char *id);
void holders_note_end(struct holders *, const char *resource, const char *id);

/* --- the pods that run -------------------------------------------------------------------------
 */

/* From now on the runtime is asked; once is enough. */
int holders_watch_sandboxes(struct holders *, struct err *);
/* As it is known; not known while nobody watches. Borrowed until the loop goes on. */
const struct sandbox_list *holders_sandboxes(const struct holders *);
/* The runtime is to be asked, too, if it is watched. */
void holders_ask_all(struct holders *);
/* Somebody waits for a sandbox: the runtime is asked often until told otherwise. */
void holders_expect_sandboxes(struct holders *, bool);
/* False: nobody watches, and *ret is zeroed. */
bool holders_runtime(const struct holders *, struct cri_status *ret);
