/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_show_diagnosis.h - prints /api/v1/diagnosis: each verdict with its evidence and advice, then
 * the causes that cannot be decided. Pure: JSON in, text out. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Formats a value of evidence with its unit: "24,000 peers", "0.052 %", "403/s", "28m". */
#define CTL_EVIDENCE_SIZE 80
const char *ctl_evidence_text(double, const char *unit, char ret[CTL_EVIDENCE_SIZE]);
/* Of causes that cannot be decided it prints only the number, unless undecided is true. Ports whose
 * link is down are named with "namespace" and "pod", if they have these. */
void ctl_show_diagnosis(const json_t *, bool undecided, FILE *);
/* Prints ", since TIME (AGE)" of a verdict of the document. */
void ctl_show_since(const json_t *verdict, const json_t *document, FILE *);
/* Prints "1 critical, 2 warning, 1 port of a pod is down". False: there is nothing of that. */
bool ctl_show_worst(const json_t *, FILE *);
/* Prints "the link is down: mlx5_0/1 (train/llm-0)"; nothing without ports. */
void ctl_show_down(const json_t *ports, FILE *);
#define CTL_LEVEL_WARNING 2
/* True of an object of "ports" whose link is down while a pod holds it: it may have no verdict, but
 * the pod cannot use it. */
bool ctl_diagnosis_is_lost(const json_t *port);
/* The worst level: 0 none, 1 information, 2 warning, 3 critical. A port that is down while a pod
 * holds it also counts as a warning. */
int ctl_diagnosis_level(const json_t *);
