/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_help.h - prints rocectl's table of commands as --help and as the manual. Pure. */
#pragma once

#include <stdio.h>

/* Prints the help of one command (enum ctl_command); -1: an overview of all commands. */
void ctl_help(int command, FILE *);
/* Prints the manual page rocectl(8), in the macros of man(7). */
void ctl_man(FILE *);
