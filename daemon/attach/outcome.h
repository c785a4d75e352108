/* outcome.h - what the end of an operation means: for the state, the counters, and when it is tried
 * again. */
#pragma once

#include "operation.h"

void outcome(struct attach_engine *, struct attachment *, const struct operation_end *);
/* An attach that cannot be: tried again later, and told. */
void outcome_failed(struct attach_engine *, struct attachment *, const char *step,
		    const struct err *);
