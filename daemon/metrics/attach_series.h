/* SPDX-License-Identifier: Apache-2.0 */
/* attach_series.h - the attach engine's families on the metrics page. Pure: values in, text out. */
#pragma once

#include "attach_status.h"
#include "page.h"

/* Maximum number of drifted attachments, and of bad devices, that have series of their own; the
 * others are only counted. */
#define ATTACH_DRIFTS_MAX 32
#define ATTACH_BAD_MAX	  32

/* A copy of the engine's state, made on the loop's thread. Zero-initialised it means that there is
 * no engine. */
struct attach_summary {
	bool known;
	struct attach_counters counters;
	unsigned n_drifts, drifts_left_out;
	struct {
		char resource[RESOURCE_NAME_SIZE], id[PLUGIN_ID_SIZE]; /* together unique */
		char interface[IFNAMSIZ], namespace[64], pod[256];
		unsigned bits;
	} drifts[ATTACH_DRIFTS_MAX];
	unsigned n_bad;
	struct {
		char resource[RESOURCE_NAME_SIZE], id[PLUGIN_ID_SIZE];
		char namespace[64], pod[256]; /* the pod that had it last; "" = unknown */
	} bad[ATTACH_BAD_MAX];
};

void attach_summary_build(struct attach_summary *ret, const struct attach_counters *,
			  struct attach_list);
/* Adds nothing for a summary that is not known. */
void attach_series(struct page *, const struct attach_summary *);
