/* summary.h - what the packets of a capture come to: the counts that the kernel's program makes,
 * flows, ICRCs. Pure; memory does not grow with the capture. */
#pragma once

#include <jansson.h>

#include "capture_file.h"
#include "flow_table.h"
#include "frame.h"

/* Which packet was the first of its sort; number 0: there was none. */
struct capture_place {
	uint64_t number, offset;
};

/* Owns its tables. */
struct capture_summary {
	uint64_t packets, bytes;    /* of whatever kind; on the wire, without FCS */
	uint64_t first_ns, last_ns; /* since 1970, earliest and latest; 0: no packet has a time */
	uint64_t unknown_links;	    /* packets of links that nobody decodes here */
	uint32_t unknown_link;	    /* the first one's type */
	uint64_t others, cut;	    /* not RoCE; captured too short to tell */
	struct roce_counts counts;  /* of both directions: a capture knows none */
	uint64_t retransmissions;   /* of all flows, those that made room included */
	uint64_t icrc[N_ICRC_VERDICTS];
	struct capture_place bad_icrc, malformed;
	struct flow_table flows;
	struct pending_table pending;
};

/* -ENOMEM. */
int summary_init(struct capture_summary *);
void summary_done(struct capture_summary *);
void summary_add(struct capture_summary *, const struct capture_packet *);
/* The document: rocectl.md tells its keys. n_flows: how many flows at most. NULL when out of
 * memory; the caller's. */
json_t *summary_json(const struct capture_summary *, size_t n_flows);

/* Of round trips in buckets (roce_counts.h): less than this many ns took that share of them, as if
 * they were spread evenly within their bucket. 0: there are none. */
uint64_t rtt_quantile(const uint32_t rtt[ROCE_RTT_BUCKETS], double share);
