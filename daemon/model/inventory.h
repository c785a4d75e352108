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
};

void inventory_done(struct inventory *);

/* Takes over what the scan read (its arrays are moved out; scan stays valid and is to be
 * scan_done() as usual). Returns true when anything differs from before. */
bool inventory_apply(struct inventory *, struct scan *);

/* Copies the stale RDMA devices, without details, into the empty host and clears their mark: to be
 * read by hw_read_details(). Returns how many, or -ENOMEM. */
int inventory_take_stale(struct inventory *, struct host *ret);
/* Moves the details of these devices to those in the inventory; those that are still marked stale
 * are to be read again after the next scan. True when anything differs. */
bool inventory_apply_details(struct inventory *, struct host *details);
/* Marks the RDMA devices with a port on this netdev, or on any with ifindex 0. True: there are any.
 */
bool inventory_mark_stale(struct inventory *, int nsid, int ifindex);
