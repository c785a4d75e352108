/* nicstats.h - the ethtool statistics that matter, of all netdevs: which of a driver's hundreds
 * feed which slot is found out once. */
#pragma once

#include <net/if.h>
#include <stddef.h>
#include <stdint.h>

#include "layout.h"

struct nicstats_pick {
	uint32_t index, slot; /* within the driver's statistics, the layout */
};

struct nicstats_nic {
	char ifname[IFNAMSIZ];
	uint32_t count; /* statistics the driver had */
	struct nicstats_pick *picks;
	size_t n;
};

struct nicstats {
	struct ethtool {
		int fd;	   /* -1 = closed */
		void *map; /* one buffer for all ioctls */
	} ethtool;
	struct nicstats_nic *nics;
	size_t n;
};

void nicstats_init(struct nicstats *);
void nicstats_done(struct nicstats *);

/* Lists one netdev's names. 0; -EOPNOTSUPP and the like where there are none. */
int nicstats_add(struct nicstats *, const char *ifname, layout_slot_fn *, void *arg);
/* Forgets netdevs and statistics that no reading uses. */
void nicstats_trim(struct nicstats *, const struct layout *);
/* Reads all netdevs. Returns the number that failed; *ret_stale is set when a driver has another
 * number of statistics by now. */
size_t nicstats_read(struct nicstats *, struct layout *, bool *ret_stale);
/* The same of those that feed these cells alone; *asked grows by how many those are. */
size_t nicstats_read_cells(struct nicstats *, struct layout *, const struct cells *, size_t *asked,
			   bool *ret_stale);
