/* operation.h - one piece of work on one device. For operation.c and journey.c. */
#pragma once

#include "engine_state.h"

enum operation_place { PLACE_QUEUE, PLACE_WORKER, PLACE_IPAM, PLACE_PAUSE };

struct operation {
	struct operation *next; /* in its list */
	struct attachment *a;
	enum operation_kind kind;
	enum operation_place place;
	bool repair;
	const char *step; /* with which the worker began */
	uint64_t due_ms;  /* of a pause */
	struct ipam_call *ipam;
	uv_work_t work;
	struct attach_job job; /* the worker's while it has it */
	int result;
};

/* NULL: out of memory, tried again soon. */
struct operation *operation_new(struct attachment *, enum operation_kind);
void operation_free(struct operation *);
/* begun: before those that have not. */
void operation_enqueue(struct operation *, bool begun);
/* Then journey_release() comes to it again. */
void operation_pause(struct operation *, uint64_t ms);

/* --- journey.c: between two visits to a worker -------------------------------------------------
 */

void journey_in(struct operation *);
void journey_back(struct operation *);
void journey_release(struct operation *);
