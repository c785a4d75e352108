/* cri_details.h - which sandboxes' details are still to be asked, and what is known stays known.
 * Pure.
 *
 * Details are asked once; again, with pauses, when there was no answer, and of a ready sandbox that
 * has neither a network namespace yet nor the node's. */
#pragma once

#include "cri_wire.h"

/* At once. */
#define CRI_DETAILS_OPEN 8

struct cri_todo {
	char id[SANDBOX_ID_SIZE];
	uint32_t pause_ms; /* before it is asked again */
	uint64_t next_ms;
	bool asking;
};

/* Zero-initialised is empty. */
struct cri_details {
	struct cri_todo *items; /* by id */
	size_t n, n_asking;
};

void cri_details_done(struct cri_details *);
/* A new list: takes what `before` knows of the same sandboxes, networks moved. -ENOMEM changes
 * nothing. */
int cri_details_list(struct cri_details *, struct sandbox_list *now, struct sandbox_list *before);
/* The next one to ask, which counts as asked now; borrowed until anything else is called. NULL =
 * none now. */
const char *cri_details_next(struct cri_details *, uint64_t now_ms);
/* When there is one to ask; UINT64_MAX = an answer or a list comes first. */
uint64_t cri_details_due(const struct cri_details *);
/* An answer, NULL = there was none. Takes what is in it over into the list; whether that has
 * changed. */
bool cri_details_answer(struct cri_details *, struct sandbox_list *, const char *id,
			struct cri_detail *, uint64_t now_ms);
