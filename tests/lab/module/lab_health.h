/* SPDX-License-Identifier: Apache-2.0 */
/* lab_health.h - the devlink of a function, with one health reporter, "fw".
 *
 * Each write to `fault` is a report. The first is recovered; a second one too soon is not, and
 * the reporter is in state error then. */
#pragma once

#include "lab_function.h"

/* The lab_nic is its private part. */
struct devlink *health_alloc(size_t size, struct device *);
int health_make(struct lab_nic *);
void health_unmake(struct lab_nic *);
