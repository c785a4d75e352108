/* SPDX-License-Identifier: Apache-2.0 */
/* diagnosis_series.h - verdicts on the metrics page. Pure: values in, text out.
 *
 * A verdict that is subordinate to another one has no series of its own. Causes that cannot be
 * decided are counted, by cause and by port, and the API lists them: one series for each cause of
 * each port would be thousands of series that never change. */
#pragma once

#include "diagnosis_report.h"
#include "page.h"
#include "resource_table.h"
#include "sample.h"

enum diagnosis_family {
	DIAGNOSIS,
	DIAGNOSIS_ONSET_TIME,
	DIAGNOSIS_POD,
	DIAGNOSIS_ONSETS,
	DIAGNOSIS_UNDECIDABLE,
	DIAGNOSIS_PORT_CAUSES,
	N_DIAGNOSIS_FAMILIES
};

const struct family *diagnosis_family(enum diagnosis_family);
/* Adds every family except those of ports. table (may be NULL): the holders of devices. -ENOMEM:
 * the page must not be used. */
int diagnosis_series(struct page *, const struct diagnosis_report *, const struct resource_table *,
		     const struct host *);
/* Adds DIAGNOSIS_PORT_CAUSES of one port; labels: `{device="...",port="..."`. Adds nothing for a
 * port that carries no RoCE. */
void diagnosis_port_series(struct text *, const char *labels, size_t n_labels,
			   const struct port_watched *);
