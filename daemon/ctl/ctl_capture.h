/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_capture.h - the commands pcap and sniff, which analyse the RoCE traffic in a capture file and
 * on a device. Only sniff --pod needs the daemon. */
#pragma once

#include <jansson.h>

#include "ctl.h"
#include "ctl_args.h"
#include "summary.h"

enum ctl_exit ctl_pcap(const struct ctl_args *, FILE *out, FILE *err);
enum ctl_exit ctl_sniff(const struct ctl_args *, FILE *out, FILE *err);

/* Prints the summary as text or as a document, and the problem (NULL: none). Takes ownership of
 * source, whose keys precede the summary's. */
enum ctl_exit ctl_capture_print(const struct ctl_args *, json_t *source,
				const struct capture_summary *, const char *problem, FILE *out,
				FILE *err);
