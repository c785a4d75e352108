/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_show_diagnosis.h - prints /api/v1/diagnosis: each verdict with its evidence and advice, then
 * the causes that cannot be decided. Pure: JSON in, text out. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Prints the document. undecided: lists all causes that cannot be decided, with the reasons; else
 * only their number and the first names. Ports whose link is down are printed with their pods, if
 * ctl_name_pods() has added these. "knowsPods", which ctl_name_pods() adds, too: a verdict without
 * pods is one of a port that no pod has. */
void ctl_show_diagnosis(const json_t *, bool undecided, FILE *);
/* Prints ", since TIME (AGE)" of a trouble. */
void ctl_show_trouble_since(const json_t *trouble, const json_t *document, FILE *);
/* Prints "3 problems: 1 critical, 2 warnings; 1 port of a pod is down". False: nothing was
 * printed. Problems are open verdicts of warning or worse, one per port and cause. */
bool ctl_show_worst(const json_t *, FILE *);
/* "3 problems: 1 critical, 2 warnings"; "no problems" */
void ctl_problems_text(size_t critical, size_t warnings, char *ret, size_t size);
/* Number of different causes that cannot be decided on some port. */
size_t ctl_diagnosis_undecided(const json_t *);
/* "train/llm-0, train/llm-1 and 3 more, by train/llm-9": as many of the pods that a verdict affects
 * as fit into `width` characters, but at least one, and the first one that causes it, cut if they
 * must be. "" = none. */
void ctl_pods_text(const json_t *verdict, size_t width, char *ret, size_t size);
/* Prints "    node: keep it in service", what to do with the node because of a verdict; nothing if
 * it has no "nodeAction". knows_pods: if the verdict has no pods, no pod has its port. */
void ctl_show_node_action(const json_t *verdict, bool knows_pods, FILE *);
/* Prints the meaning of a cause, its impact, how to confirm it, the advice, and the series that the
 * cause needs. */
struct cause_row;
struct trouble_row;
void ctl_show_cause(const struct cause_row *, FILE *);
void ctl_show_word(const struct trouble_row *, FILE *);
/* Prints "3 verdicts ended in the last hour: rocectl diagnose --ended"; nothing for 0. */
void ctl_count_ended(json_int_t n, FILE *);
/* Prints the verdicts that ended in the last hour, a line each, the newest first. of_a_time: the
 * document is of a part of it; prints the verdicts and troubles that are still open first. */
void ctl_show_ended(const json_t *, bool of_a_time, FILE *);
/* True if rocelet remembers every verdict that ended since the document's "since". */
bool ctl_diagnosis_remembers(const json_t *);
/* Prints ", better now, last seen 12s ago" if the verdict with this cause and onset is clearing. */
void ctl_show_better(const json_t *diagnosis, const char *cause, const char *onset, FILE *);
#define CTL_LEVEL_WARNING 2
/* True for an object of "ports" whose link is down while a pod holds it. Such a port may have no
 * verdict, but the pod cannot use it. */
bool ctl_diagnosis_is_pod_port_down(const json_t *port);
/* The worst level of the verdicts and of the other troubles of pods: 0 none, 1 information, 2
 * warning, 3 critical. A port that is down while a pod holds it also counts as a warning. */
int ctl_diagnosis_level(const json_t *);
/* The same; verdicts that have ended count, too. */
int ctl_diagnosis_level_with_ended(const json_t *);
