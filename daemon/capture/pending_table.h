/* pending_table.h - requests of a capture that wait for their ACK, in memory that does not grow: a
 * newer one takes the place of an older one whose hash is the same. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "roce_account.h"

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
