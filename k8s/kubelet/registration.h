/* registration.h - when to serve and when to call Register, for one resource. Pure: told what
 * happened and what time it is, it says what to do next.
 *
 * Legacy (device-plugins/): we call Register. Anew for every new kubelet.sock, when our socket was
 * deleted, and when the kubelet stopped watching our list. A kubelet that loses a watch drops the
 * resource, whoever has registered it meanwhile (runClient in
 * pkg/kubelet/cm/devicemanager/plugin/v1beta1/handler.go): so an old watch is ended before a new
 * call, and a moment is left in between.
 *
 * Registry (plugins_registry/): the kubelet finds our socket by itself. One that does not watch our
 * list is left in peace for a while, then shown the socket anew. One that has not asked at the
 * socket at all for 10 s does not look into that folder.
 *
 * One kubelet is called once, whatever moves in the folder meanwhile: a call that is on its way is
 * waited for, also when our socket has to be made anew.
 *
 * While nobody listens on a kubelet.sock that is younger than 2 s, for the kubelet is about to, it
 * is tried at once and after 1, 2, 5, 10, 20 and then every 50 ms: a kubelet that admits its pods
 * before it knows our devices may fail them for good. Other pauses double from 20 ms to 1 s, and to
 * 10 s once the trouble has lasted for 10 s. What moves in the folder cuts a pause short. Without a
 * kubelet.sock there is nothing to wake up for. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct registration_plan {
	/* For the owner to read. */
	bool registered;	/* the kubelet said so, and has not been lost since */
	bool refused;		/* its last word was an error */
	unsigned watchers;	/* open ListAndWatch streams */
	uint64_t registrations; /* that succeeded */
	uint64_t failures;	/* refusals, time-outs, lost connections, sockets not made */
	char error[256];	/* trouble that is not over, "" = none */

	/* Private. */
	bool registry, wanted, serving, kubelet, calling;
	bool asked; /* by a kubelet that found our socket in the registry */
	bool lost;  /* a watch came and went since the last CALL */
	unsigned attempt;
	uint32_t pause_ms, patience_ms;
	unsigned n_nobody;    /* answers of a fresh kubelet.sock */
	uint64_t next_ms;     /* nothing is done before, */
	uint64_t earliest_ms; /* and not before this in any hurry */
	uint64_t trouble_ms;  /* since when it does not work */
	uint64_t fresh_ms;    /* when kubelet.sock was new */
	uint64_t watched_ms;  /* since when somebody watches */
};

enum registration_step {
	REGISTRATION_WAIT,
	/* Make our socket, anew if it is there; then registration_serving() or _not_serving(). */
	REGISTRATION_SERVE,
	/* Call Register; its answer goes to registration_answered(). */
	REGISTRATION_CALL,
	/* The kubelet does not look into the registry: as SERVE, or registration_leave_registry()
	 * once the socket is closed. */
	REGISTRATION_UNSEEN,
};

enum registration_answer {
	REGISTRATION_OK,
	REGISTRATION_NOBODY,   /* nobody listens on kubelet.sock */
	REGISTRATION_REFUSED,  /* an error is the answer */
	REGISTRATION_NO_REPLY, /* timed out, or the connection was lost */
};

/* Legacy, unless it joins the registry before it does anything. */
void registration_init(struct registration_plan *, uint64_t now_ms);
void registration_join_registry(struct registration_plan *);
/* From now on legacy. Our socket is not there. */
void registration_leave_registry(struct registration_plan *, uint64_t now_ms);
/* What to do now. WAIT: until *ret_wake_ms, UINT64_MAX = until something happens; else it is asked
 * again after the step. */
enum registration_step registration_next(struct registration_plan *, uint64_t now_ms,
					 uint64_t *ret_wake_ms);
/* The number of the last CALL. */
unsigned registration_attempt(const struct registration_plan *);
/* The kubelet knows the resource and watches its list. */
bool registration_works(const struct registration_plan *);

/* --- what happened -------------------------------------------------------------------------- */

/* There is a list; before, nobody is told anything. */
void registration_want(struct registration_plan *, uint64_t now_ms);
/* Something moved at kubelet.sock. is_new: it is another file than before. */
void registration_kubelet(struct registration_plan *, bool there, bool is_new, uint64_t now_ms);
/* Our socket is made (there), or somebody has deleted it. */
void registration_serving(struct registration_plan *, bool there, uint64_t now_ms);
/* It is a predecessor's that we go on with; whoever watches its list has been told of already. */
void registration_inherited(struct registration_plan *, uint64_t now_ms);
void registration_not_serving(struct registration_plan *, const char *why, uint64_t now_ms);
/* The folder of our socket has changed. */
void registration_folder(struct registration_plan *, uint64_t now_ms);
/* Answers to earlier attempts are ignored. why: of what is not OK. */
void registration_answered(struct registration_plan *, unsigned attempt, enum registration_answer,
			   const char *why, uint64_t now_ms);
/* Registry: it asked GetInfo; it told how that ended. */
void registration_asked(struct registration_plan *, uint64_t now_ms);
void registration_notified(struct registration_plan *, bool registered, const char *why,
			   uint64_t now_ms);
/* How many streams are open now. */
void registration_watched(struct registration_plan *, unsigned watchers, uint64_t now_ms);
