/* ctl.h - rocectl: asks the daemon over its socket, and shows what it says: of the daemon it can
 * say what GET and POST on /api/v1 say too, and nothing else. Captures it reads by itself. */
#pragma once

#include <stdio.h>

/* What rocectl exits with. */
enum ctl_exit {
	CTL_OK,
	CTL_NO,	       /* the daemon says no, doctor found something, a capture cannot be read, or
			* the output not be written */
	CTL_USAGE,     /* the command line is wrong */
	CTL_NO_DAEMON, /* nobody answers on the socket */
	CTL_WARNING,   /* diagnose: the worst that it says is a warning */
	CTL_CRITICAL,  /* diagnose: something is critical */
};

/* The whole program; argv may be permuted. */
enum ctl_exit ctl_run(int argc, char *argv[], FILE *out, FILE *err);
