/* diagnosis_fixture.h - a report by hand, with a verdict of every kind that is shown in another
 * way. */
#pragma once

#include "diagnosis_report.h"

/* mlx5_0 of 0000:03:00.0: a warning that explains another cause, and is getting better; mlx5_1 of
 * 0000:03:00.2: critical, a pod's, with a peer; one that was just closed. To be freed with
 * diagnosis_report_done(). */
void diagnosis_report_small(struct diagnosis_report *);
