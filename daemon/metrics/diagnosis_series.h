/* diagnosis_series.h - verdicts on the metrics page. Pure: values in, text out.
 *
 * A verdict that is told under another one has no series of its own. What cannot be decided is
 * counted by cause: which ports that is says the API, since a series for each of them would be
 * thousands that never move. */
#pragma once

#include "diagnosis_report.h"
#include "page.h"
#include "resource_table.h"
#include "sample.h"

enum diagnosis_family { DIAGNOSIS, DIAGNOSIS_ONSETS, DIAGNOSIS_UNDECIDABLE, N_DIAGNOSIS_FAMILIES };

const struct family *diagnosis_family(enum diagnosis_family);
/* table (may be NULL): who holds a device. -ENOMEM: the page is not to be used. */
int diagnosis_series(struct page *, const struct diagnosis_report *, const struct resource_table *);
