/* fake_cri.h - a container runtime's socket for tests, in the same loop and in every mood: the
 *list, details with containerd's JSON, and events of either kind.
 *
 *	fake_cri_init(&f, &loop, path);
 *	fake_cri_start(&f);
 *	fake_cri_set(&f, sandboxes, n);
 *	fake_cri_event(&f, CRI_EVENT_BEGINS, sandboxes[0].id);
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "cri_wire.h"
#include "grpc.h"

/* Texts are borrowed. */
struct fake_sandbox {
	const char *id, *namespace, *pod, *uid;
	const char *netns;    /* NULL = no namespace yet */
	const char *networks; /* NULL = no such annotation */
	uint32_t attempt;
	bool not_ready, host_network;
};

struct fake_cri {
	uv_loop_t *loop;
	const char *path;
	const char *name, *version; /* "containerd", "1.6.20" */
	struct uds_server *server;
	struct fake_sandbox *sandboxes; /* owned */
	size_t n;

	/* Moods */
	bool silent;	   /* nothing is answered */
	bool mute_details; /* details are not */
	bool no_events;	   /* their method is not there */
	bool brief_events; /* the stream ends at once, as that of CRI-O without pod events */
	unsigned refusals; /* so many questions for the list are refused first */
	enum grpc_status refuse_with;
	const uint8_t *answer; /* instead of the list; borrowed, NULL = the list */
	size_t answer_len;

	struct grpc_call *stream; /* of events; NULL = nobody listens */
	bool stream_is_cri;
	unsigned greetings, lists, details, streams;
	unsigned open_details, most_details; /* under way now, and at most */
	struct grpc_call *held[16];	     /* details that are mute */
	uint64_t first_ms, last_ms;	     /* questions for the list */
};

void fake_cri_init(struct fake_cri *, uv_loop_t *, const char *path);
void fake_cri_start(struct fake_cri *);
/* dead_file: its socket stays, with nobody behind it. */
void fake_cri_stop(struct fake_cri *, bool dead_file);
void fake_cri_done(struct fake_cri *);

/* What it lists from now on; tells nobody. */
void fake_cri_set(struct fake_cri *, const struct fake_sandbox *, size_t n);
/* To whoever listens. */
void fake_cri_event(struct fake_cri *, enum cri_event_kind, const char *id);
void fake_cri_event_bytes(struct fake_cri *, const void *, size_t len);
void fake_cri_end_events(struct fake_cri *, enum grpc_status);
/* Answers the details that were held back, and no longer holds any. */
void fake_cri_tell_details(struct fake_cri *);
