/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_diagnose.h - rocectl diagnose --replay: runs diagnosis over a scenario file and prints how
 * its verdicts change. */
#pragma once

#include "ctl.h"
#include "ctl_args.h"

enum ctl_exit ctl_replay(const struct ctl_args *, FILE *out, FILE *err);
