/* SPDX-License-Identifier: Apache-2.0 */
/* inventory.h - the model of the host's devices, built from scans. Pure data: no I/O, no clock, no
 * logging.
 *
 * A scan is authoritative for the parts that it read completely: whatever it does not contain is
 * removed. One exception: a function is still bound to its driver, but its netdev or RDMA device is
 * not visible anywhere. Then the device is in a namespace that we cannot enter. It keeps its last
 * known values, with nsid NSID_ELSEWHERE. */
#pragma once

#include "hw.h"
#include "model.h"

struct inventory {
	struct host host;
	uint64_t generation; /* incremented by every change that a reader can see; 0 = nothing
				scanned yet */
	uint64_t devices_ms; /* loop time at which the last applied netdev scan began, so changes
				before it are included; 0 = none yet */
	struct host_ref *host_ref; /* NULL = the host is not borrowed */
	uint64_t digest;	   /* of `host`, as of `generation` */
};

/* The host of an inventory, borrowed for reading on another thread. */
struct host_ref {
	struct host host;
	unsigned n_borrowers;
	struct inventory *owner; /* NULL: the inventory continued with a copy, or was freed */
};

void inventory_done(struct inventory *);

/* Lends the current host without a copy; the inventory copies it only if it has to change while the
 * host is borrowed. All borrowers of the same host share one host_ref. Each must call
 * host_ref_put() on the inventory's thread; the inventory may be freed by then. Fields that only
 * the inventory's own thread reads (rdma_dev.stale) may change during that time. NULL: out of
 * memory. */
struct host_ref *inventory_borrow(struct inventory *);
void host_ref_put(struct host_ref *); /* may be NULL */

/* Applies a scan that began at loop time began_ms. Moves the scan's arrays out; the scan stays
 * valid, and the caller still calls scan_done(). Returns true if anything changed. If out of memory
 * while the host is borrowed, nothing is applied. */
bool inventory_apply(struct inventory *, struct scan *, uint64_t began_ms);

/* Copies the RDMA devices marked stale, without details, into the empty host for hw_read_details(),
 * and clears their marks. Returns their number, or -ENOMEM. */
int inventory_take_stale(struct inventory *, struct host *ret);
/* Moves the details of these devices into the inventory. Devices still marked stale have to be read
 * again after the next scan. True if anything changed. */
bool inventory_apply_details(struct inventory *, struct host *details);
/* Marks the RDMA devices with a port on this netdev as stale; ifindex 0: all devices that have
 * ports. True if any was marked. */
bool inventory_mark_stale(struct inventory *, int nsid, int ifindex);
