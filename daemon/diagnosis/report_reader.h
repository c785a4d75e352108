/* SPDX-License-Identifier: Apache-2.0 */
/* report_reader.h - a function that reads the last report on a worker, because it would block the
 * loop for too long. */
#pragma once

struct diagnosis_report;

/* Embedded in its owner's struct. Both functions are called exactly once, read() first. */
struct report_reader {
	/* Called on a worker, in parallel with the loop and a running sample. report NULL: there is
	 * none. */
	void (*read)(struct report_reader *, const struct diagnosis_report *report);
	/* Called on the loop's thread; may free the reader. */
	void (*done)(struct report_reader *);
	struct report_reader *next; /* list of waiting readers */
};
