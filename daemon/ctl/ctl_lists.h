/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_lists.h - commands that print lists, once or on every change, and `rocectl status`. */
#pragma once

#include "listing.h"
#include "question.h"

enum ctl_exit ctl_list(const struct ctl *, const struct listing *);
enum ctl_exit ctl_status_run(const struct ctl *);

/* True if out is a terminal and NO_COLOR (no-color.org) is not set. */
bool ctl_wants_colours(FILE *out);
