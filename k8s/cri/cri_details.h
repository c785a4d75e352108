/* SPDX-License-Identifier: Apache-2.0 */
/* cri_details.h - selects sandboxes whose details must be queried, and keeps known details. Pure.
 *
 * Details are queried once. The query is repeated, with pauses, if it failed, or if a ready sandbox
 * has no network namespace yet and does not use the host's. */
#pragma once

#include "cri_wire.h"

/* Maximum number of simultaneous queries. */
#define CRI_DETAILS_OPEN 8

struct cri_todo {
	char id[SANDBOX_ID_SIZE];
	uint32_t pause_ms; /* backoff before the next query */
	uint64_t next_ms;
	bool asking;
};

/* Zero-initialised it is empty. */
struct cri_details {
	struct cri_todo *items; /* sorted by id */
	size_t n, n_asking;
};

void cri_details_done(struct cri_details *);
/* Handles a new list: moves known details of the same sandboxes from `before`. -ENOMEM changes
 * nothing. */
int cri_details_list(struct cri_details *, struct sandbox_list *now, struct sandbox_list *before);
/* Returns the next sandbox to query, and marks it as being queried; borrowed until the next call.
 * NULL = none now. */
const char *cri_details_next(struct cri_details *, uint64_t now_ms);
/* Returns the time of the next query; UINT64_MAX = not before an answer or a new list. */
uint64_t cri_details_deadline(const struct cri_details *);
/* Handles an answer, NULL = failed. Moves the details into the list; returns whether that has
 * changed. */
bool cri_details_answer(struct cri_details *, struct sandbox_list *, const char *id,
			struct cri_detail *, uint64_t now_ms);
