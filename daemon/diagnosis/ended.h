/* SPDX-License-Identifier: Apache-2.0 */
/* ended.h - the verdicts that were closed in the last hour, for clients that did not see them open.
 * Pure. */
#pragma once

#include "verdict.h"

#define ENDED_MAX     64 /* 240 KB */
#define ENDED_KEPT_MS (60 * 60 * 1000)

struct ended_verdict {
	/* Its last state, with the evidence of its worst sample and its highest severity; `closed`
	 * is the reason of the end. */
	struct verdict verdict;
	/* When the fault ended, which is earlier than closed_ms by the release time. */
	uint64_t ended_ms, ended_unix_ms;
	uint64_t closed_ms;
};

/* Ended verdicts, in the order in which they were closed. Zero-initialised it is empty. */
struct ended_list {
	struct ended_verdict list[ENDED_MAX];
	size_t n;
};

/* Appends a copy; a full list drops its oldest. */
void ended_add(struct ended_list *, const struct verdict *, uint64_t now_ms, uint64_t unix_ms);
/* False: it became a symptom, and it or the verdict that explains it is still among the open ones,
 * so the fault continues. */
bool ended_is_over(const struct ended_verdict *, const struct verdict *open, size_t n);
/* Drops those that were closed more than ENDED_KEPT_MS ago. */
void ended_forget(struct ended_list *, uint64_t now_ms);
