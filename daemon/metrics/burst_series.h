/* SPDX-License-Identifier: Apache-2.0 */
/* burst_series.h - the results of burst sampling on the metrics page. Pure: values in, text out.
 *
 * A port that never needed burst sampling has no series. A peak is the maximum over the last 30 to
 * 60 seconds, so that every scrape gets it; histograms count windows since the start. */
#pragma once

#include "burst.h"
#include "page.h"
#include "sample.h"

enum burst_family {
	BURST_PAUSE_PEAK,
	BURST_CE_PEAK,
	BURST_PAUSE_WINDOWS,
	BURST_CE_WINDOWS,
	N_BURST_FAMILIES
};

const struct family *burst_family(enum burst_family);
/* Appends the series of one port and family; port: its labels with the opening brace, n bytes;
 * windows: one element per ratio. */
void burst_series(struct text *, enum burst_family, const char *port, size_t n,
		  const struct burst_windows windows[N_BURST_RATIOS]);
