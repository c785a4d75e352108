/* SPDX-License-Identifier: Apache-2.0 */
/* runbook_text.h - the paragraphs of docs/runbook.md that `rocectl explain CAUSE` prints. Pure. */
#pragma once

struct runbook_text {
	const char *cause;
	const char *impact;  /* what suffers, and how soon to act */
	const char *confirm; /* how to check that the cause is the right one, without the queries */
};

/* The texts about a cause, by its name; NULL: none. Static. */
const struct runbook_text *runbook_text(const char *cause);
