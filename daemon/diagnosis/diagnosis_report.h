/* diagnosis_report.h - what diagnosis says, as a value: for those who show it while the next sample
 * is being judged. Pure. */
#pragma once

#include "diagnosis.h"

/* A cause that could not be decided on a port. */
struct undecided {
	size_t port; /* index into diagnosis_report.ports */
	enum cause cause;
	const char *why; /* static */
	int missing;	 /* enum series that would be needed; -1: it is not that */
};

/* Zero-initialised it is the empty report. */
struct diagnosis_report {
	uint64_t now_ms, unix_ms; /* of the sample that was judged last; monotonic, and real */
	struct verdict *verdicts; /* as diagnosis_verdicts() has them */
	size_t n_verdicts, room_verdicts;
	struct port_watched *ports; /* their devices are borrowed from `names` */
	char (*names)[RDMA_NAME_SIZE];
	size_t n_ports, room_ports;
	double (*counters)[N_SERIES]; /* of each port, if they are kept */
	size_t room_counters;
	bool has_counters;
	const struct timeline *timeline; /* the engine's; see diagnosis_report_rows() */
	unsigned newest_row, n_rows;
	struct undecided *undecided;
	size_t n_undecided, room_undecided;
	uint64_t onsets[N_CAUSES];	/* verdicts told since the start */
	uint32_t undecidable[N_CAUSES]; /* ports on which the cause could not be decided */
};

void diagnosis_report_done(struct diagnosis_report *);
/* What is said now, in place of what the report said before: memory is taken only where there is
 * more than ever. -ENOMEM: it is the empty report. */
int diagnosis_report_make(struct diagnosis_report *, const struct diagnosis *);
/* Keeps what was read of its ports, beside what is said of them: of the observation that was judged
 * last. -ENOMEM: it is not kept. */
int diagnosis_report_keep_counters(struct diagnosis_report *, const struct observation *);
/* N_SERIES values as they were read, NaN = not visible. NULL: not kept, or the port was not seen.
 */
const double *diagnosis_report_counters(const struct diagnosis_report *, size_t port);
/* Rows of its ports' windows that may be read while the next sample is being judged, by the engine
 * that the report was made of: all but the one that this may overwrite. */
unsigned diagnosis_report_rows(const struct diagnosis_report *);
/* When a row was taken, `back` (less than that) rows before the newest. */
uint64_t diagnosis_report_row_ms(const struct diagnosis_report *, unsigned back);
/* NaN: not seen. */
double diagnosis_report_signal(const struct diagnosis_report *, size_t port, enum signal,
			       unsigned back);
/* "roce_pause_frames_total is not there". */
void undecided_text(const struct undecided *, char ret[UNDECIDED_SIZE]);
