/* SPDX-License-Identifier: Apache-2.0 */
/* diagnosis_report.h - a copy of the results of diagnosis, which may be read while the next sample
 * is judged. Pure. */
#pragma once

#include "diagnosis.h"
#include "ended.h"

/* Zero-initialised it is the empty report. */
struct diagnosis_report {
	uint64_t now_ms, unix_ms; /* of the last judged sample: monotonic, and unix time */
	struct verdict *verdicts; /* as returned by diagnosis_verdicts() */
	size_t n_verdicts, room_verdicts;
	struct ended_verdict *ended; /* in the order in which they ended */
	size_t n_ended, room_ended;
	uint64_t warming_ms; /* how long a port is watched before it is judged */
	/* Their names, windows and undecided causes are borrowed from the engine until the end of
	 * its next tick. */
	struct port_watched *ports;
	size_t n_ports, room_ports;
	double (*counters)[N_SERIES]; /* of each port; valid if has_counters */
	size_t room_counters;
	bool has_counters;
	struct source_state sources[N_SOURCES]; /* of the sample; zero: unknown */
	const struct timeline *timeline; /* borrowed from the engine; see diagnosis_report_rows() */
	unsigned newest_row, n_rows;
	uint64_t onsets[N_CAUSES];	/* verdicts reported since the start */
	uint32_t undecidable[N_CAUSES]; /* ports on which the cause could not be decided */
};

void diagnosis_report_done(struct diagnosis_report *);
/* Replaces the contents by the present results, reusing memory. -ENOMEM leaves the empty report. */
int diagnosis_report_make(struct diagnosis_report *, const struct diagnosis *);
/* Adds the counters of the last judged observation. -ENOMEM: they are left out. */
int diagnosis_report_keep_counters(struct diagnosis_report *, const struct observation *);
/* Returns the N_SERIES values as they were read; NaN = not visible. NULL: no counters are kept, or
 * the port was not in the sample. */
const double *diagnosis_report_counters(const struct diagnosis_report *, size_t port);
/* Returns the number of rows of the ports' windows that may be read while the engine judges the
 * next sample: all except the oldest, which it may overwrite. */
unsigned diagnosis_report_rows(const struct diagnosis_report *);
/* Returns the time of the row `back` rows before the newest one; back < diagnosis_report_rows(). */
uint64_t diagnosis_report_row_ms(const struct diagnosis_report *, unsigned back);
/* True if every row of the port has the same values. */
bool diagnosis_report_is_still(const struct diagnosis_report *, size_t port);
/* Returns the signal's value `back` rows before the newest one; NaN: not visible, or the
 * share of no packets. */
double diagnosis_report_signal(const struct diagnosis_report *, size_t port, enum signal,
			       unsigned back);
