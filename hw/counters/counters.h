/* SPDX-License-Identifier: Apache-2.0 */
/* counters.h - reads every counter of the host's RDMA ports, one sample at a time.
 *
 * The layout is built once per change of the hardware (it resolves names, indices, descriptors), so
 * that frequent samples are cheap: one RDMA netlink datagram for all ports, one ethtool statistics
 * read per netdev, open descriptors where only sysfs remains. A counter that cannot be read is
 * absent in that sample; others are not affected. */
#pragma once

#include "hw.h"
#include "sample.h"

struct counters;

struct counters_opts {
	bool port_counters; /* also read ports/N/counters/ (costs one firmware command per file on
			       mlx5) */
	bool compat;	    /* also readings under node_exporter's node_infiniband_* names */
};

/* Creates a reader without a layout; NULL only when out of memory. The struct hw must stay valid
 * until counters_free(). */
struct counters *counters_new(const struct hw *, const struct counters_opts *);
void counters_free(struct counters *);

/* Builds the layout for this host. Keeps the 32-bit extensions and reset counts of ports that
 * remain. Never fails as a whole; -ENOMEM keeps the old layout. */
int counters_layout(struct counters *, const struct host *);

/* Takes one sample; the result is borrowed until the next call of counters_read(),
 * counters_layout() or counters_free(). host must be the one of the last counters_layout(), in case
 * the layout must be rebuilt. now_ms: monotonic. */
const struct sample *counters_read(struct counters *, const struct host *, uint64_t now_ms);

/* Reads one port of the last sample again, without slow sources: the sample then has newer readings
 * of this port than of others. Returns the number of driver queries, or -ESTALE: the port no longer
 * matches the layout, which the next sample rebuilds. */
int counters_read_port(struct counters *, size_t port);

/* Enables the named optional counters on all ports that have them; other enabled ones stay enabled
 * (RDMA_NLDEV_CMD_STAT_SET replaces the whole set). Needs CAP_NET_ADMIN. names: n strings. Tries
 * all ports; returns 0 or the first failure. */
int counters_enable_optional(const struct hw *, const struct host *, const char *const *names,
			     size_t n, struct err *);
