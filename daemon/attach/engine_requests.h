/* SPDX-License-Identifier: Apache-2.0 */
/* engine_requests.h - requests that wait for the end of an attach or a return. Only for
 * engine_requests.c and engine_cni.c. */
#pragma once

#include "engine_state.h"

struct engine_request {
	struct waiter waiter; /* first: the request is freed as its waiter */
	struct attach_engine *engine;
	bool detach;
	struct attachment *a; /* the attachment of its operation; NULL: not begun yet */
	struct attach_record record;
	uint32_t early_ms;	/* maximum time until the operation begins */
	uint32_t limit_ms;	/* an attach that takes longer is undone; 0: no limit */
	bool cancelled;		/* a DEL arrived before the attach began */
	uint64_t next_lists_ms; /* earliest time of the next request for new lists */
	attach_request_fn *fn;
	attach_wanted_fn *is_wanted; /* NULL: always wanted */
	void *arg;
};

struct attach_record engine_request_record(const char *function, const struct attach_owner *,
					   const struct net_plan *);
/* NULL: out of memory. */
struct engine_request *engine_request_new(struct attach_engine *, attach_request_fn *, void *arg);
/* Begins to attach request->record, or waits until that is possible. Takes ownership of the
 * request. Errors of attach_engine_attach(). */
int engine_request_submit(struct engine_request *, struct err *);
/* Cancels the attach requests of DOOR_CNI for that interface that have not begun yet. */
void engine_requests_cancel(struct attach_engine *, const char *container, const char *ifname);
/* An attach begins: DELs of its interface that still wait are older than it, and must not end it
 * (engine_cni.c). Until then no other attachment has that interface. */
void engine_cni_attaches(struct attach_engine *, const struct attach_record *);
/* Begins the return of an attachment. why: a string literal for messages. */
void engine_request_take_back(struct attachment *, const char *why);
