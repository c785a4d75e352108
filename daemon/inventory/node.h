/* node.h - the head of the VF wing: hints from the kernel -> rescans of the hardware -> the
 * inventory.
 *
 * Every event source only says "look again at these parts". Hints of one burst are gathered for
 * settle_ms, then a rescan on a worker thread tells what is true. There are four, each with a pace
 * of its own, because a busy kernel makes them wait differently: functions (sysfs), devices
 * (netlink, which waits for whoever holds the RTNL), details (verbs, which open each device),
 * reports (which may wait for a device that is being reset). A rescan always begins after the hints
 * it answers, so its part of the inventory never goes back in time; hints that arrive meanwhile
 * start the next one. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "hw.h"
#include "inventory.h"
#include "self_counters.h"

struct uv_loop_s;
struct node;

enum rescan { RESCAN_FUNCTIONS, RESCAN_DEVICES, RESCAN_DETAILS, RESCAN_REPORTS, N_RESCANS };

struct node_opts {
	uint32_t settle_ms;
	uint32_t rescan_interval_ms; /* 0 = only on events */
};

/* After each rescan that changed something, on the loop's thread. first: now every rescan but
 * that for reports has been taken once; told once, changed or not. */
typedef void node_changed_fn(bool first, void *arg);

/* hw and self must outlive it. The first rescans start at once. */
int node_open(struct node **ret, struct uv_loop_s *, const struct hw *, struct self_counters *self,
	      const struct node_opts *, node_changed_fn *, void *arg, struct err *);
/* parts: enum scan_part bits. lost: events were lost, anything may have changed. */
void node_hint(struct node *, unsigned parts, bool lost);
/* An address of this netdev came or went: GIDs may have. */
void node_hint_address(struct node *, int nsid, int ifindex);
struct inventory *node_inventory(struct node *);
/* Functions and devices have been looked at once: only details may be missing, which can take long.
 */
bool node_knows_devices(const struct node *);
/* Every rescan but that for reports has been taken once. */
bool node_complete(const struct node *);
/* How long the last rescan of this kind took. */
uint64_t node_rescan_us(const struct node *, enum rescan);
/* NULL is fine. Rescans in flight are waited for; the struct is gone when the loop has run out of
 * handles. */
void node_close(struct node *);
