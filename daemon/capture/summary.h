/* SPDX-License-Identifier: Apache-2.0 */
/* summary.h - summarises a capture: the counters of the kernel's packet program, flows, ICRCs.
 * Pure; uses a fixed amount of memory. */
#pragma once

#include <jansson.h>

#include "capture_file.h"
#include "flow_table.h"
#include "frame.h"

/* The position of the first packet of a kind; number 0: there was none. */
struct capture_position {
	uint64_t number, offset;
};

/* Owns its tables. */
struct capture_summary {
	uint64_t packets, bytes;    /* of all packets; bytes on the wire, without FCS */
	uint64_t first_ns, last_ns; /* since 1970, earliest and latest; 0: no packet has a time */
	uint64_t unknown_links;	    /* packets of unsupported link types */
	uint32_t unknown_link;	    /* type of the first one */
	uint64_t others, cut;	    /* not RoCE; not complete enough to decide */
	struct roce_counts counts;  /* of both directions together, because a capture does not show
				       the direction */
	uint64_t retransmissions;   /* of all flows, including evicted ones */
	uint64_t icrc[N_ICRC_VERDICTS];
	struct capture_position bad_icrc, malformed;
	struct flow_table flows;
	struct pending_table pending;
};

/* Creates an empty summary. -ENOMEM: out of memory. */
int summary_init(struct capture_summary *);
void summary_done(struct capture_summary *);
void summary_add(struct capture_summary *, const struct capture_packet *);
/* Returns the JSON document, owned by the caller; NULL: out of memory. rocectl.md documents the
 * keys. n_flows: maximum number of flows. */
json_t *summary_json(const struct capture_summary *, size_t n_flows);
