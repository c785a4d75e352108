/* SPDX-License-Identifier: Apache-2.0 */
/* node.h - the core of the VF subsystem: kernel hints -> hardware rescans -> inventory.
 *
 * An event source only reports which parts may have changed. The hints of a burst are gathered for
 * settle_ms, then a rescan on a worker thread reads the actual state. There are four kinds of
 * rescan, each with its own schedule, because a busy kernel delays them differently: functions
 * (sysfs), devices (netlink, which waits for the RTNL lock), details (verbs, which open each
 * device), reports (which may wait for a device reset). A rescan always begins after its hints, so
 * it includes their changes. Hints that arrive during a rescan start the next one. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "hw.h"
#include "inventory.h"
#include "self_counters.h"

struct uv_loop_s;
struct node;

#define NODE_MOVING_MS 200

enum rescan { RESCAN_FUNCTIONS, RESCAN_DEVICES, RESCAN_DETAILS, RESCAN_REPORTS, N_RESCANS };

struct node_opts {
	uint32_t settle_ms;
	uint32_t rescan_interval_ms; /* 0 = only on events */
};

/* Called on the loop's thread after each rescan that changed something. first: every rescan except
 * that of reports has completed once; passed as true exactly once, even if nothing changed. */
typedef void node_changed_fn(bool first, void *arg);

/* Opens the node, and starts the first rescans at once. hw and self must outlive the node. */
int node_open(struct node **ret, struct uv_loop_s *, const struct hw *, struct self_counters *self,
	      const struct node_opts *, node_changed_fn *, void *arg, struct err *);
/* Requests a rescan. parts: enum scan_part bits. lost: events were lost, so anything may have
 * changed. */
void node_hint(struct node *, unsigned parts, bool lost);
/* Call with true when this process begins to move devices, with false when the moves have ended.
 * Meanwhile a rescan of devices would slow down both, because they wait for the same lock (RTNL).
 * So it begins when the moves have ended, or NODE_MOVING_MS after the first hint. */
void node_moving(struct node *, bool);
/* Requests a rescan of GIDs, after an address of this netdev was added or removed. */
void node_hint_address(struct node *, int nsid, int ifindex);
struct inventory *node_inventory(struct node *);
/* True if functions and devices have been scanned once. Details may still be missing, because they
 * may need long. */
bool node_knows_devices(const struct node *);
/* True if every rescan except that of reports has completed once. */
bool node_complete(const struct node *);
/* Returns the duration of the last rescan of this kind. */
uint64_t node_rescan_us(const struct node *, enum rescan);
/* Closes the node. May be NULL. Waits for running rescans; the struct is freed when the loop has no
 * handles left. */
void node_close(struct node *);
