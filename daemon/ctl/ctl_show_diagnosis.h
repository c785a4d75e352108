/* ctl_show_diagnosis.h - /api/v1/diagnosis as people read it: what is wrong first, then on what
 * that rests, what to do, and what cannot be decided. Pure: JSON in, text out. */
#pragma once

#include <jansson.h>
#include <stdio.h>

void ctl_show_diagnosis(const json_t *, FILE *);
/* Of its verdicts the worst: 0 none, 1 information, 2 warning, 3 critical. */
int ctl_diagnosis_level(const json_t *);
