/* ctl_show_diagnosis.h - /api/v1/diagnosis as people read it: what is wrong first, then on what
 * that rests, what to do, and what cannot be decided. Pure: JSON in, text out. */
#pragma once

#include <jansson.h>
#include <stdio.h>

/* A number of evidence: 24000 as "24,000", 0.00312345 as "0.003123". */
#define EVIDENCE_NUMBER_SIZE 40
const char *ctl_evidence_number(double, char ret[EVIDENCE_NUMBER_SIZE]);
void ctl_show_diagnosis(const json_t *, FILE *);
/* Of its verdicts the worst: 0 none, 1 information, 2 warning, 3 critical. A port that a pod holds
 * and whose link is down is a warning, too. */
int ctl_diagnosis_level(const json_t *);
