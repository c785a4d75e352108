/* SPDX-License-Identifier: Apache-2.0 */
/* nicstats.h - reads the relevant ethtool statistics of all netdevs. Of the hundreds of statistics
 * that a driver has, the relevant ones are selected once, when the layout is built. */
#pragma once

#include <net/if.h>
#include <stddef.h>
#include <stdint.h>

#include "layout.h"

struct nicstats_pick {
	uint32_t index, slot; /* index in the driver's statistics, and slot in the layout */
};

struct nicstats_nic {
	char ifname[IFNAMSIZ];
	uint32_t count; /* number of the driver's statistics when listed */
	struct nicstats_pick *picks;
	size_t n;
};

struct nicstats {
	struct ethtool {
		int fd;	   /* -1 = closed */
		void *map; /* buffer shared by all ioctls */
	} ethtool;
	struct nicstats_nic *nics;
	size_t n;
};

void nicstats_init(struct nicstats *);
void nicstats_done(struct nicstats *);

/* Lists one netdev's statistics. Returns 0, or -EOPNOTSUPP or another errno if there are none. */
int nicstats_add(struct nicstats *, const char *ifname, layout_slot_fn *, void *arg);
/* Drops netdevs and statistics that no reading uses. */
void nicstats_trim(struct nicstats *, const struct layout *);
/* Reads all netdevs. Returns the number that failed; sets *ret_stale if a driver's number of
 * statistics has changed. */
size_t nicstats_read(struct nicstats *, struct layout *, bool *ret_stale);
/* Like nicstats_read(), for the netdevs that feed these cells; adds their number to *asked. */
size_t nicstats_read_cells(struct nicstats *, struct layout *, const struct cells *, size_t *asked,
			   bool *ret_stale);
