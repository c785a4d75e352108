/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_diagnosis.h - runs `diagnose`, `doctor` and `explain`, whose texts need the daemon's
 * diagnosis or devices beside their own document. */
#pragma once

#include "question.h"

enum ctl_exit ctl_diagnosis_run(const struct ctl *);
/* Prints the findings of doctor. CTL_NO: there are some. */
enum ctl_exit ctl_diagnosis_doctor(const struct ctl *);
enum ctl_exit ctl_diagnosis_explain(const struct ctl *);
