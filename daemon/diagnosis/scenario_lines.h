/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_lines.h - the lines of a scenario file, and reports of mistakes in them. Pure, except
 * for reading the file. */
#pragma once

#include "scenario.h"
#include "scenario_port.h"

struct scenario_lines {
	FILE *file;
	const char *name;
	scenario_complain_fn *complain;
	void *arg;
	char *line; /* owned */
	size_t line_size;
	uint64_t line_number;
	uint64_t mistakes[N_MISTAKES];
};

/* Reads the next line that is a JSON object; the caller owns *ret. Returns 1; 0 at the end of the
 * file; else -errno. */
int scenario_lines_next(struct scenario_lines *, json_t **ret, struct err *);
/* Reports the first mistake of each kind. lines: a struct scenario_lines. */
void scenario_report(enum scenario_mistake, const char *what, void *lines);
void scenario_lines_sum_up(struct scenario_lines *);
