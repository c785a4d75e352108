/* node.h - the head of the VF wing: hints from the kernel -> a look at the hardware -> the
 * inventory.
 *
 * Every event source only says "look again at these parts". Hints of one burst are gathered for
 * settle_ms, then one scan on a worker thread tells what is true. A scan always starts after the
 * hints it answers, so the inventory never goes back in time; hints that arrive meanwhile start the
 * next one. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "hw.h"
#include "inventory.h"
#include "self_counters.h"

struct uv_loop_s;
struct node;

struct node_opts {
	uint32_t settle_ms;
	uint32_t rescan_interval_ms; /* 0 = only on events */
};

/* After each scan that changed something, on the loop's thread. first: the first scan, changed or
 * not. */
typedef void node_changed_fn(bool first, void *arg);

/* hw and self must outlive it. The first full scan starts at once. */
int node_open(struct node **ret, struct uv_loop_s *, const struct hw *, struct self_counters *self,
	      const struct node_opts *, node_changed_fn *, void *arg, struct err *);
/* parts: enum scan_part bits. lost: events were lost, a full scan is due. */
void node_hint(struct node *, unsigned parts, bool lost);
const struct inventory *node_inventory(const struct node *);
/* How long the last scan took. */
uint64_t node_scan_us(const struct node *);
/* NULL is fine. A scan in flight is waited for; the struct is gone when the loop has run out of
 * handles. */
void node_close(struct node *);
