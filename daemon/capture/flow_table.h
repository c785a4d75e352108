/* flow_table.h - the flows of a capture, in memory that does not grow: a table of small sets; where
 * a set is full, the flow that has been silent for longest makes room. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roce_account.h"

#define FLOW_TABLE_SIZE 65536
#define FLOW_WAYS	8 /* flows of a set */

struct flow_entry {
	struct roce_flow_key key;
	struct roce_flow flow;
	uint64_t used; /* number of the packet that was here last; 0: nobody is here */
};

/* Owns entries. */
struct flow_table {
	struct flow_entry *entries;
	size_t n_sets; /* a power of two */
	uint64_t inserts, evictions;
	uint64_t evicted_packets; /* of the flows that made room */
};

/* size: a power of two, at least FLOW_WAYS. -ENOMEM. */
int flow_table_init(struct flow_table *, size_t size);
void flow_table_done(struct flow_table *);
/* The flow of that key; an empty one in its place if it is not there. now: grows from packet to
 * packet, never 0. Valid until the next call. */
struct roce_flow *flow_table_get(struct flow_table *, const struct roce_flow_key *, uint64_t now);
/* NULL: not there, or not any more. */
struct roce_flow *flow_table_find(struct flow_table *, const struct roce_flow_key *);

/* What went wrong in a flow: CE marks, CNPs, NAKs, RNR NAKs, retransmissions. */
uint64_t flow_trouble(const struct roce_flow *);
/* Fills ret with up to n flows, most troubled first, then those of most packets. Returns how many
 * there are. */
size_t flow_table_top(const struct flow_table *, const struct flow_entry **ret, size_t n);

/* --- requests that wait for their ACK --------------------------------------------------------- */

/* Requests of a capture that wait for their ACK, in memory that does not grow: a
 * newer one takes the place of an older one whose hash is the same. Pure. */

#define PENDING_TABLE_SIZE 32768

struct pending_entry {
	struct roce_pending_key key;
	struct roce_pending value; /* sent_ns 0: nobody waits here */
};

/* Owns entries. */
struct pending_table {
	struct pending_entry *entries; /* PENDING_TABLE_SIZE */
};

/* -ENOMEM. */
int pending_table_init(struct pending_table *);
void pending_table_done(struct pending_table *);
void pending_table_put(struct pending_table *, const struct roce_pending_key *,
		       const struct roce_pending *);
/* False: it does not wait, or not any more. */
bool pending_table_take(struct pending_table *, const struct roce_pending_key *,
			struct roce_pending *ret);
