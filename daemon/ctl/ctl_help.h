/* ctl_help.h - rocectl's table of commands as people read it: --help and the manual. Pure. */
#pragma once

#include <stdio.h>

/* Of one command (enum ctl_command), or of all of them: -1. */
void ctl_help(int command, FILE *);
/* rocectl(8), in the macros of man(7). */
void ctl_man(FILE *);
