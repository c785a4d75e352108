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
