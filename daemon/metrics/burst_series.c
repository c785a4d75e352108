// SPDX-License-Identifier: Apache-2.0
#include "burst_series.h"

#include <inttypes.h>
#include <math.h>

static const struct family families[N_BURST_FAMILIES] = {
	[BURST_PAUSE_PEAK] =
		{"roce_pfc_pause_peak_ratio",
		 "Maximum paused share of a window of about 20 to 100 ms, in the last 30 to 60 s.",
		 METRIC_GAUGE},
	[BURST_CE_PEAK] =
		{"roce_ecn_ce_peak_ratio",
		 "Maximum share of packets marked CE in a window of about 20 to 100 ms, in the last 30 to 60 s.",
		 METRIC_GAUGE},
	[BURST_PAUSE_WINDOWS] = {"roce_pfc_pause_window_ratio",
				 "Windows between two reads, by their paused share.",
				 METRIC_HISTOGRAM},
	[BURST_CE_WINDOWS] = {"roce_ecn_ce_window_ratio",
			      "Windows between two reads, by their share of packets marked CE.",
			      METRIC_HISTOGRAM},
};

const struct family *burst_family(enum burst_family f)
{
	return &families[f];
}

/* The parts of the series of one ratio. */
struct line {
	struct text *text;
	const char *name, *port, *direction;
	size_t port_len;
};

static void begin_line(const struct line *l, const char *suffix)
{
	text_addf(l->text, "%s%s", l->name, suffix);
	text_add(l->text, l->port, l->port_len);
	if (l->direction)
		text_addf(l->text, ",direction=\"%s\"", l->direction);
}

static void add_peak(const struct line *l, const struct burst_windows *w)
{
	if (isnan(w->peak))
		return;
	begin_line(l, "");
	text_addf(l->text, "} %.6g\n", w->peak);
}

static void add_windows(const struct line *l, const struct burst_windows *w)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < BURST_BOUNDS; i++)
		n += w->n[i];
	if (!n)
		return;
	n = 0;
	for (unsigned i = 0; i < BURST_BOUNDS; i++) {
		n += w->n[i];
		begin_line(l, "_bucket");
		/* OpenMetrics requires a decimal point in whole numbers, too. */
		text_addf(l->text, ",le=\"%g%s\"} %" PRIu64 "\n", burst_bounds[i],
			  burst_bounds[i] == floor(burst_bounds[i]) ? ".0" : "", n);
	}
	begin_line(l, "_bucket");
	text_addf(l->text, ",le=\"+Inf\"} %" PRIu64 "\n", n);
	begin_line(l, "_sum");
	text_addf(l->text, "} %.9g\n", w->sum);
	begin_line(l, "_count");
	text_addf(l->text, "} %" PRIu64 "\n", n);
}

static void add_ratio(struct text *t, enum burst_family f, const char *port, size_t n,
		      const char *direction, const struct burst_windows *w)
{
	const struct line l = {t, families[f].name, port, direction, n};

	if (families[f].type == METRIC_HISTOGRAM)
		add_windows(&l, w);
	else
		add_peak(&l, w);
}

void burst_series(struct text *t, enum burst_family f, const char *port, size_t n,
		  const struct burst_windows windows[N_BURST_RATIOS])
{
	if (f == BURST_CE_PEAK || f == BURST_CE_WINDOWS) {
		add_ratio(t, f, port, n, NULL, &windows[BURST_CE]);
		return;
	}
	add_ratio(t, f, port, n, "received", &windows[BURST_PAUSE_RECEIVED]);
	add_ratio(t, f, port, n, "sent", &windows[BURST_PAUSE_SENT]);
}
