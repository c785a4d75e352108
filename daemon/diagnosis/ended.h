/* SPDX-License-Identifier: Apache-2.0 */
/* ended.h - the verdicts that ended in the last 15 minutes, for clients that did not see them open.
 * Pure. */
#pragma once

#include "verdict.h"

#define ENDED_MAX     64
#define ENDED_KEPT_MS (15 * 60 * 1000)

struct ended_verdict {
	struct verdict verdict; /* its last state; `closed` is the reason of the end */
	uint64_t ended_ms, ended_unix_ms;
};

/* Ended verdicts, in the order in which they ended. Zero-initialised it is empty. */
struct ended_list {
	struct ended_verdict list[ENDED_MAX];
	size_t n;
};

/* Appends a copy; a full list drops its oldest. */
void ended_add(struct ended_list *, const struct verdict *, uint64_t now_ms, uint64_t unix_ms);
/* Drops those that ended more than ENDED_KEPT_MS ago. */
void ended_forget(struct ended_list *, uint64_t now_ms);
