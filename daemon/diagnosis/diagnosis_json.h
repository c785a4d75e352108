/* diagnosis_json.h - verdicts as documents. Pure. */
#pragma once

#include <jansson.h>

#include "diagnosis.h"

/* One verdict with its evidence, what explains it and what to do. NULL when out of memory. */
json_t *verdict_json(const struct verdict *);
/* What is open: {"verdicts", "undecided", "notTheNetwork", "ports"}. NULL when out of memory. */
json_t *diagnosis_json(const struct diagnosis *);
