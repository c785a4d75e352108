// SPDX-License-Identifier: Apache-2.0
/* runbook_text.c - runbook_text.py generates the rows from docs/runbook.md. */
#include "runbook_text.h"

#include <string.h>

#include "cleanup.h"
#include "runbook_rows.h"
#include "search.h"

#define ROW(cause, impact, confirm) {#cause, impact, confirm},

static const struct runbook_text rows[] = {RUNBOOK_TEXTS(ROW)};

const struct runbook_text *runbook_text(const char *cause)
{
	return find_first(rows, ARRAY_SIZE(rows), i, strcmp(rows[i].cause, cause) == 0);
}
