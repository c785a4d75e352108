/* SPDX-License-Identifier: Apache-2.0 */
/* outcome.h - handles the end of an operation: sets the state, the counters and the time of the
 * next try. */
#pragma once

#include "operation.h"

void outcome(struct attach_engine *, struct attachment *, const struct operation_end *);
/* Reports a failed attach and schedules the next try. */
void outcome_failed(struct attach_engine *, struct attachment *, const char *step,
		    const struct err *);
