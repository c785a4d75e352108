/* burst_series.h - what bursts of looks have shown, on the metrics page. Pure: values in, text out.
 *
 * A port on which nobody ever had to look twice has no series. Peaks are those of the last half to
 * whole minute, so that every scrape sees each; histograms count windows since the start. */
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
/* port: its labels, n bytes, with the brace before them; windows: of each ratio. */
void burst_series(struct text *, enum burst_family, const char *port, size_t n,
		  const struct burst_windows windows[N_BURST_RATIOS]);
