/* SPDX-License-Identifier: Apache-2.0 */
/* flow_table.h - stores the flows of a capture in a fixed amount of memory: a table of small sets;
 * if a set is full, its least recently active flow is evicted. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roce_account.h"

#define FLOW_TABLE_SIZE 65536
#define FLOW_WAYS	8 /* flows per set */

struct flow_entry {
	struct roce_flow_key key;
	struct roce_flow flow;
	uint64_t used; /* number of the last packet of the flow; 0: free */
};

/* Owns entries. */
struct flow_table {
	struct flow_entry *entries;
	size_t n_sets; /* a power of two */
	uint64_t inserts, evictions;
	uint64_t evicted_packets; /* of evicted flows */
};

/* Creates an empty table. size: a power of two, at least FLOW_WAYS. -ENOMEM: out of memory. */
int flow_table_init(struct flow_table *, size_t size);
void flow_table_done(struct flow_table *);
/* Returns the flow with that key, adding an empty one if needed. now: the packet's number,
 * increasing, never 0. Valid until the next call. */
struct roce_flow *flow_table_get(struct flow_table *, const struct roce_flow_key *, uint64_t now);
/* Returns the flow with that key; NULL: it is not in the table, or was evicted. */
struct roce_flow *flow_table_find(struct flow_table *, const struct roce_flow_key *);

/* Writes up to n flows, sorted by problems, then by packets. Returns their number. */
size_t flow_table_top(const struct flow_table *, const struct flow_entry **ret, size_t n);

/* --- requests waiting for an ACK -------------------------------------------------------------- */

/* Stores requests of a capture that wait for their ACK in a fixed amount of memory: a newer request
 * replaces an older one with the same hash. Pure. */

#define PENDING_TABLE_SIZE 32768

struct pending_entry {
	struct roce_pending_key key;
	struct roce_pending value; /* sent_ns 0: free */
};

/* Owns entries. */
struct pending_table {
	struct pending_entry *entries; /* PENDING_TABLE_SIZE */
};

/* Creates an empty table. -ENOMEM: out of memory. */
int pending_table_init(struct pending_table *);
void pending_table_done(struct pending_table *);
void pending_table_put(struct pending_table *, const struct roce_pending_key *,
		       const struct roce_pending *);
/* Removes a request. False: no such request is waiting, or it was replaced. */
bool pending_table_take(struct pending_table *, const struct roce_pending_key *,
			struct roce_pending *ret);
