/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_examples.h - examples of each command, for --help and the manual. Pure. */
#pragma once

#include <stddef.h>

#include "ctl_commands.h"

struct ctl_example {
	enum ctl_command command;
	const char *line; /* the words after "rocectl" */
	const char *what;
};

/* The i-th example; NULL after the last. Examples of a command are adjacent. */
const struct ctl_example *ctl_example(size_t i);
