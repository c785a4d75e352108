/* SPDX-License-Identifier: Apache-2.0 */
/* diagnosis_fixture.h - a hand-made report with one verdict of every kind that is displayed
 * differently. */
#pragma once

#include "diagnosis_report.h"

/* mlx5_0 of 0000:03:00.0: a warning that explains another cause and is recovering. mlx5_1 of
 * 0000:03:00.2: a critical verdict with pod and peer, and one that was just closed. Free with
 * diagnosis_report_done(). */
void diagnosis_report_small(struct diagnosis_report *);
