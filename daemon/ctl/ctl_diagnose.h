/* ctl_diagnose.h - rocectl diagnose --replay: what diagnosis says of a scenario file, as time
 * passes in it. */
#pragma once

#include "ctl.h"
#include "ctl_args.h"

enum ctl_exit ctl_replay(const struct ctl_args *, FILE *out, FILE *err);
