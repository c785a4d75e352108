/* SPDX-License-Identifier: Apache-2.0 */
/* registration.h - decides when to serve and when to call Register, for one resource. Pure: takes
 * events and the time, returns the next step.
 *
 * Legacy (device-plugins/): we call Register. We call it again for every new kubelet.sock, when our
 * socket was deleted, and when the kubelet stopped watching our list. A kubelet that loses a watch
 * drops the resource, even if another process has registered it meanwhile (runClient in
 * pkg/kubelet/cm/devicemanager/plugin/v1beta1/handler.go): so an old watch is ended before a new
 * call, with a pause in between.
 *
 * Registry (plugins_registry/): the kubelet finds our socket by itself. If it does not watch our
 * list, we wait for a while, then create the socket again. If it has not called us for 10 s, it
 * does not use that folder.
 *
 * A kubelet is called only once at a time: a running call is awaited, even if the folder changes or
 * our socket has to be created again.
 *
 * If no process listens on a kubelet.sock younger than 2 s, the kubelet is starting. Then we try at
 * once, after 1, 2, 5, 10 and 20 ms, and then every 50 ms, because a kubelet that admits pods
 * before it has our devices may fail them permanently. Other pauses double from 20 ms to 1 s, or to
 * 10 s once the failure has lasted for 10 s. A change in the folder ends a pause. Without a
 * kubelet.sock there is no timer. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct registration_plan {
	/* For the owner to read. */
	bool registered;	/* accepted by the kubelet, and no watch was lost since */
	bool refused;		/* its last answer was an error */
	unsigned watchers;	/* open ListAndWatch streams */
	uint64_t registrations; /* successful ones */
	uint64_t failures;	/* errors, timeouts, lost connections, sockets not created */
	char error[256];	/* of the current failure, "" = none */

	/* Private. */
	bool registry, wanted, serving, kubelet, calling;
	bool asked; /* GetInfo was called, by a kubelet that found our socket in the registry */
	bool lost;  /* a watch was opened and closed since the last CALL */
	unsigned attempt;
	uint32_t pause_ms, watch_wait_ms;
	unsigned n_unanswered; /* attempts on a new kubelet.sock without a listener */
	uint64_t next_ms;      /* time of the next step */
	uint64_t earliest_ms;  /* limit for next_ms if a change ends a pause */
	uint64_t failing_ms;   /* start of the current failure */
	uint64_t fresh_ms;     /* when the current kubelet.sock was first seen */
	uint64_t watched_ms;   /* when the first watch was opened */
};

enum registration_step {
	REGISTRATION_WAIT,
	/* Create our socket, again if it exists; then call registration_serving() or
	 * _not_serving(). */
	REGISTRATION_SERVE,
	/* Call Register, and pass its answer to registration_answered(). */
	REGISTRATION_CALL,
	/* The kubelet does not use the registry: act as for SERVE, or close the socket and call
	 * registration_leave_registry(). */
	REGISTRATION_UNSEEN,
};

enum registration_answer {
	REGISTRATION_OK,
	REGISTRATION_NO_LISTENER, /* no process listens on kubelet.sock */
	REGISTRATION_REFUSED,	  /* the answer is an error */
	REGISTRATION_NO_REPLY,	  /* timed out, or the connection was lost */
};

/* Starts with legacy; call registration_join_registry() next to use the registry instead. */
void registration_init(struct registration_plan *, uint64_t now_ms);
void registration_join_registry(struct registration_plan *);
/* Switches to legacy. Our socket must have been removed. */
void registration_leave_registry(struct registration_plan *, uint64_t now_ms);
/* Returns the next step. WAIT: until *ret_wake_ms, UINT64_MAX = until an event; otherwise call
 * again after the step. */
enum registration_step registration_next(struct registration_plan *, uint64_t now_ms,
					 uint64_t *ret_wake_ms);
/* Returns the number of the last CALL. */
unsigned registration_attempt(const struct registration_plan *);
/* True if the resource is registered and the kubelet watches its list. */
bool registration_works(const struct registration_plan *);

/* --- events ---------------------------------------------------------------------------------- */

/* A list is available. Before this event, registration_next() returns WAIT. */
void registration_want(struct registration_plan *, uint64_t now_ms);
/* Something changed at kubelet.sock. is_new: it is another file than before. */
void registration_kubelet(struct registration_plan *, bool there, bool is_new, uint64_t now_ms);
/* Our socket was created (there), or deleted by another process. */
void registration_serving(struct registration_plan *, bool there, uint64_t now_ms);
/* Our socket was taken over from a predecessor; its watchers were reported before. */
void registration_inherited(struct registration_plan *, uint64_t now_ms);
void registration_not_serving(struct registration_plan *, const char *why, uint64_t now_ms);
/* Something changed in the folder of our socket. */
void registration_folder(struct registration_plan *, uint64_t now_ms);
/* Answers to earlier attempts are ignored. why: for answers other than OK. */
void registration_answered(struct registration_plan *, unsigned attempt, enum registration_answer,
			   const char *why, uint64_t now_ms);
/* Registry: the kubelet called GetInfo; the kubelet reported the result (NotifyRegistrationStatus).
 */
void registration_asked(struct registration_plan *, uint64_t now_ms);
void registration_notified(struct registration_plan *, bool registered, const char *why,
			   uint64_t now_ms);
/* The number of open streams has changed. */
void registration_watched(struct registration_plan *, unsigned watchers, uint64_t now_ms);
