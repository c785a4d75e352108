/* SPDX-License-Identifier: Apache-2.0 */
/* fake_cri.h - a fake container runtime for tests, in the same loop: the list, details with
 * containerd's JSON, and events of both kinds. It can be made to fail in several ways.
 *
 *	fake_cri_init(&f, &loop, path);
 *	fake_cri_start(&f);
 *	fake_cri_set(&f, sandboxes, n);
 *	fake_cri_event(&f, CRI_EVENT_BEGINS, sandboxes[0].id); */
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

	/* Behaviour */
	bool silent;	   /* answers nothing */
	bool mute_details; /* does not answer queries for details */
	bool no_events;	   /* has no method for events */
	bool brief_events; /* ends the event stream at once, like CRI-O without pod events */
	unsigned refusals; /* number of list queries to reject first */
	enum grpc_status refuse_with;
	const uint8_t *answer; /* sent instead of the list; borrowed; NULL = send the list */
	size_t answer_len;

	struct grpc_call *stream; /* of events; NULL = no subscriber */
	bool stream_is_cri;
	unsigned greetings, lists, details, streams;
	unsigned open_details, most_details; /* open queries for details, and their maximum */
	struct grpc_call *held[16];	     /* queries for details that are not answered */
	uint64_t first_ms, last_ms;	     /* times of the first and last list query */
};

void fake_cri_init(struct fake_cri *, uv_loop_t *, const char *path);
void fake_cri_start(struct fake_cri *);
/* dead_file: keeps the socket file without a listener. */
void fake_cri_stop(struct fake_cri *, bool dead_file);
void fake_cri_done(struct fake_cri *);

/* Sets the list without sending an event. */
void fake_cri_set(struct fake_cri *, const struct fake_sandbox *, size_t n);
/* Sends an event to the subscriber. */
void fake_cri_event(struct fake_cri *, enum cri_event_kind, const char *id);
void fake_cri_event_bytes(struct fake_cri *, const void *, size_t len);
void fake_cri_end_events(struct fake_cri *, enum grpc_status);
/* Answers the held queries for details, and all later ones. */
void fake_cri_answer_details(struct fake_cri *);
