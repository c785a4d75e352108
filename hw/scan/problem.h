/* problem.h - where the parts of a scan leave what they could not do: the first per source. */
#pragma once

#include "hw.h"

/* The slot to write into, or NULL (err_set() copes) when the source has a problem already. */
static inline struct err *problem_slot(struct err problem[N_SCAN_SOURCES], enum scan_source s)
{
	return problem[s].code ? NULL : &problem[s];
}
