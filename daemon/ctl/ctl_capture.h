/* ctl_capture.h - the commands that need no daemon: what a capture, or the traffic of the next
 * seconds, says of RoCE. */
#pragma once

#include <jansson.h>

#include "ctl.h"
#include "ctl_args.h"
#include "summary.h"

enum ctl_exit ctl_pcap(const struct ctl_args *, FILE *out, FILE *err);
enum ctl_exit ctl_sniff(const struct ctl_args *, FILE *out, FILE *err);

/* Prints the summary as a text or a document, and the problem (a sentence; NULL: none). `source`
 * are keys that come before the summary's; taken. */
enum ctl_exit ctl_capture_tell(const struct ctl_args *, json_t *source,
			       const struct capture_summary *, const char *problem, FILE *out,
			       FILE *err);
