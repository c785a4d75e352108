/* inventory.h - the one picture of the host, made from scans. Pure data: no I/O, no clock, no
 * logging.
 *
 * A scan is the truth about the parts it read completely: what it does not show is gone (mark and
 * sweep in one step). One exception: a function that is still bound to its driver but whose netdev
 * or RDMA device is nowhere to be seen has lent it to a namespace we cannot look into; the last
 * known values stay, with nsid NSID_ELSEWHERE. */
#pragma once

#include "hw.h"
#include "model.h"

struct inventory {
	struct host host;
	uint64_t generation; /* grows with every change that a reader could see; 0 = nothing scanned
				yet */
	uint64_t devices_ms; /* loop time at which the look at netdevs began that it shows: what
				was done before, it shows; 0 = none yet */
	struct loan *loan;   /* NULL = the host is not lent */
	uint64_t digest;     /* of host, as of that generation */
};

/* The host of an inventory, lent for reading on another thread. */
struct loan {
	struct host host;
	unsigned n_borrowers;
	struct inventory *owner; /* NULL: the owner went on with a copy, or is gone */
};

void inventory_done(struct inventory *);

/* Lends the host as it is now, without a copy: only when it has to change meanwhile, the inventory
 * goes on with one. Each is to be given back on the thread of the inventory, which may be gone by
 * then; who borrows the same host gets the same loan. What only the inventory's own thread looks at
 * (rdma_dev.stale) may change. NULL: out of memory. */
struct loan *inventory_lend(struct inventory *);
void loan_return(struct loan *); /* NULL is fine */

/* Takes over what the scan read, which began at loop time began_ms (its arrays are moved out; scan
 * stays valid and is to be scan_done() as usual). Returns true when anything differs from before;
 * out of memory while the host is lent, nothing is taken over. */
bool inventory_apply(struct inventory *, struct scan *, uint64_t began_ms);

/* Copies the stale RDMA devices, without details, into the empty host and clears their mark: to be
 * read by hw_read_details(). Returns how many, or -ENOMEM. */
int inventory_take_stale(struct inventory *, struct host *ret);
/* Moves the details of these devices to those in the inventory; those that are still marked stale
 * are to be read again after the next scan. True when anything differs. */
bool inventory_apply_details(struct inventory *, struct host *details);
/* Marks the RDMA devices with a port on this netdev, or on any with ifindex 0. True: there are any.
 */
bool inventory_mark_stale(struct inventory *, int nsid, int ifindex);
