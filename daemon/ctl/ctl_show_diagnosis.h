/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_show_diagnosis.h - prints /api/v1/diagnosis: each verdict with its evidence and advice, then
 * the causes that cannot be decided. Pure: JSON in, text out. */
#pragma once

#include <jansson.h>
#include <stdio.h>

/* Formats a number of evidence: 24000 as "24,000", 0.00312345 as "0.003123". */
#define EVIDENCE_NUMBER_SIZE 40
const char *ctl_evidence_number(double, char ret[EVIDENCE_NUMBER_SIZE]);
void ctl_show_diagnosis(const json_t *, FILE *);
/* The worst level: 0 none, 1 information, 2 warning, 3 critical. A port that is down while a pod
 * holds it also counts as a warning. */
int ctl_diagnosis_level(const json_t *);
