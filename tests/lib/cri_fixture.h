/* SPDX-License-Identifier: Apache-2.0 */
/* cri_fixture.h - a fake container runtime with three sandboxes (fake_cri.h) and its client, in one
 * loop. All functions assert success. */
#pragma once

#include <uv.h>

#include "cri.h"
#include "err.h"
#include "fake_cri.h"

/* aaa1 in default, bbb2 with networks, ccc3 in the host's network. */
extern const struct fake_sandbox three_sandboxes[3];

struct cri_fixture {
	uv_loop_t loop;
	char *dir, path[108]; /* of the runtime's socket */
	struct fake_cri fake;
	struct cri *cri;
	unsigned failures; /* failed queries that were reported */
	uint64_t asked_ms; /* of the last reported list */
	const char *id;	   /* the sandbox of cri_is_gone() */
	bool close_in_callback, closed;
	bool (*until)(struct cri_fixture *); /* of cri_until() */
};

/* Creates loop, folder and a runtime that is not started. */
void cri_fixture_init(struct cri_fixture *);
/* Calls cri_open() only; returns its result. */
int cri_fixture_try(struct cri_fixture *, const char *path, struct err *);
/* The same with f->path, asserting success. */
void cri_fixture_open(struct cri_fixture *);
/* Starts the runtime and its client. */
void cri_fixture_start(struct cri_fixture *);
/* Then waits until the client has subscribed to events and no longer queries the list without a
 * hint. */
void cri_fixture_calm(struct cri_fixture *);
/* Closes everything and asserts that the loop is empty. */
void cri_fixture_stop(struct cri_fixture *);

/* From the client's list, borrowed; NULL = not listed. */
const struct sandbox *cri_get(const struct cri_fixture *, const char *id);
/* Its texts are borrowed from the client. */
struct cri_status cri_status_of(const struct cri_fixture *);

/* Runs the loop until a condition, such as the functions below, is true; fails the test on a
 * timeout. */
#define cri_until(f, cond) cri_fixture_until(f, cond, #cond)
void cri_fixture_until(struct cri_fixture *, bool (*)(struct cri_fixture *), const char *name);

bool cri_is_known(struct cri_fixture *);
bool cri_is_unknown(struct cri_fixture *);
/* The list is known, with details of every sandbox. */
bool cri_is_detailed(struct cri_fixture *);
bool cri_has_failed(struct cri_fixture *);
/* The sandbox f->id. */
bool cri_is_gone(struct cri_fixture *);
bool cri_is_listened_to(struct cri_fixture *);
/* The first second, in which the list is queried repeatedly because changes before the subscription
 * may have been missed, is over. */
bool cri_is_calm(struct cri_fixture *);
bool cri_is_asked_five_times(struct cri_fixture *);
