/* listings.h - what rocectl lists: columns, and where in the daemon's documents they come from.
 * Pure. */
#pragma once

#include "listing.h"

extern const struct listing listing_pods, listing_devices, listing_events, listing_qps,
	listing_resources, listing_ports;

/* One event, a line, as `rocectl watch` shows it. */
void listing_show_event(const json_t *event, FILE *);
