/* cri_fixture.h - a container runtime with three sandboxes (fake_cri.h) and its client, in one
 * loop. Everything asserts that it works. */
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
	unsigned failures; /* told: questions that were not answered */
	uint64_t asked_ms; /* of the last answer that was told */
	const char *id;	   /* what cri_is_gone() is about */
	bool close_when_told, closed;
	bool (*until)(struct cri_fixture *); /* of cri_until() */
};

/* Loop, folder, a runtime that is not started. */
void cri_fixture_init(struct cri_fixture *);
/* cri_open() alone; what that returns. */
int cri_fixture_try(struct cri_fixture *, const char *path, struct err *);
/* The same, of f->path, and it works. */
void cri_fixture_open(struct cri_fixture *);
/* The runtime and its client. */
void cri_fixture_start(struct cri_fixture *);
/* After that: the events are listened to, and the list is not asked any more without a reason. */
void cri_fixture_calm(struct cri_fixture *);
/* Closes what is open and asserts that the loop is empty then. */
void cri_fixture_stop(struct cri_fixture *);

/* NULL = it is not listed. The client's. */
const struct sandbox *cri_get(const struct cri_fixture *, const char *id);
/* Its texts are the client's. */
struct cri_status cri_status_of(const struct cri_fixture *);

/* Runs the loop until one of these, or a function like them, is true; or fails the test. */
#define cri_until(f, cond) cri_fixture_until(f, cond, #cond)
void cri_fixture_until(struct cri_fixture *, bool (*)(struct cri_fixture *), const char *name);

bool cri_is_known(struct cri_fixture *);
bool cri_is_unknown(struct cri_fixture *);
/* Known, and there are details of every sandbox. */
bool cri_is_detailed(struct cri_fixture *);
bool cri_has_failed(struct cri_fixture *);
/* The sandbox f->id. */
bool cri_is_gone(struct cri_fixture *);
bool cri_is_listened_to(struct cri_fixture *);
/* The first second, when the list is asked again because anything may have happened before the
 * subscription, is over. */
bool cri_is_calm(struct cri_fixture *);
bool cri_is_asked_five_times(struct cri_fixture *);
