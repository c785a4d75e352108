/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_suggest.h - `rocectl suggest --merge DIR`: reads the configurations that nodes suggest from
 * files, and prints one configuration with groups. */
#pragma once

#include <stdio.h>

#include "ctl.h"

struct ctl_args;

/* Reads every DIR/NODE.json, the suggestion of the node NODE. */
enum ctl_exit ctl_suggest_merge(const struct ctl_args *, FILE *out, FILE *err);
