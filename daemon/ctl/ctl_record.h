/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_record.h - rocectl diagnose --record: writes the input of the daemon's diagnosis to a
 * scenario file, whose replay yields the same verdicts. */
#pragma once

#include "ctl.h"
#include "ctl_args.h"

/* Writes to out, or to the file of --write. */
enum ctl_exit ctl_record(const struct ctl_args *, FILE *out, FILE *err);
