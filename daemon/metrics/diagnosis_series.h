/* SPDX-License-Identifier: Apache-2.0 */
/* diagnosis_series.h - verdicts on the metrics page. Pure: values in, text out.
 *
 * A verdict that is subordinate to another one has no series of its own. Undecidable causes are
 * counted by cause, without their ports, which the API shows: a series for each port would be
 * thousands that never change. */
#pragma once

#include "diagnosis_report.h"
#include "page.h"
#include "resource_table.h"
#include "sample.h"

enum diagnosis_family { DIAGNOSIS, DIAGNOSIS_ONSETS, DIAGNOSIS_UNDECIDABLE, N_DIAGNOSIS_FAMILIES };

const struct family *diagnosis_family(enum diagnosis_family);
/* table (may be NULL): the holders of devices. -ENOMEM: the page must not be used. */
int diagnosis_series(struct page *, const struct diagnosis_report *, const struct resource_table *);
