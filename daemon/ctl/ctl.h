/* SPDX-License-Identifier: Apache-2.0 */
/* ctl.h - rocectl: queries the daemon over its socket and prints the answers. It uses only GET and
 * POST on /api/v1, and reads captures without the daemon. */
#pragma once

#include <stdio.h>

/* Exit codes of rocectl. */
enum ctl_exit {
	CTL_OK,
	CTL_NO,	       /* daemon refused, doctor has findings, capture unreadable, output failed */
	CTL_USAGE,     /* wrong command line */
	CTL_NO_DAEMON, /* no daemon answers on the socket */
	CTL_WARNING,   /* diagnose: the worst verdict is a warning */
	CTL_CRITICAL,  /* diagnose: a verdict is critical */
};

/* Runs the program; may permute argv. */
enum ctl_exit ctl_run(int argc, char *argv[], FILE *out, FILE *err);
