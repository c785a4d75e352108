/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_diagnosis.h - runs `diagnose` and `doctor`, whose texts need each other's document. */
#pragma once

#include "question.h"

/* The exit status for the worst level (ctl_diagnosis_level()); information is no problem. */
enum ctl_exit ctl_diagnosis_exit(int level);
enum ctl_exit ctl_diagnosis_run(const struct ctl *);
/* Prints the findings of doctor. CTL_NO: there are some. */
enum ctl_exit ctl_diagnosis_doctor(const struct ctl *);
