/* SPDX-License-Identifier: Apache-2.0 */
/* listings.h - rocectl's listings: columns and their paths in the daemon's documents. Pure. */
#pragma once

#include "listing.h"

extern const struct listing listing_pods, listing_devices, listing_events, listing_qps,
	listing_resources, listing_ports;

/* Prints an event as one line, for `rocectl watch`. */
void listing_show_event(const json_t *event, FILE *);
