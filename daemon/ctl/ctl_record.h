/* ctl_record.h - rocectl diagnose --record: what the daemon's diagnosis is told, as a scenario file
 * that says the same when it is replayed. */
#pragma once

#include "ctl.h"
#include "ctl_args.h"

/* To `out`, or to the file of --write. */
enum ctl_exit ctl_record(const struct ctl_args *, FILE *out, FILE *err);
