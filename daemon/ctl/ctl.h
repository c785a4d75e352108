/* ctl.h - rocectl: asks the daemon over its socket, and shows what it says. It has no other
 * knowledge: whatever it can say, GET and POST on /api/v1 say too. */
#pragma once

#include <stdio.h>

/* What rocectl exits with. */
enum ctl_exit {
	CTL_OK,
	CTL_NO,	       /* the daemon says no, or doctor found something */
	CTL_USAGE,     /* the command line is wrong */
	CTL_NO_DAEMON, /* nobody answers on the socket */
};

/* The whole program; argv may be permuted. */
enum ctl_exit ctl_run(int argc, char *argv[], FILE *out, FILE *err);
