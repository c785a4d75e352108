/* counters.h - reads every counter of the host's RDMA ports, one sample at a time.
 *
 * Lay out once per change of the hardware (names, indices, descriptors are resolved here), then
 * sample often and cheaply: one RDMA netlink datagram for all ports, one ethtool statistics read
 * per netdev, held descriptors where only sysfs remains. A counter that cannot be read is absent in
 * that sample; nothing else suffers. */
#pragma once

#include "hw.h"
#include "sample.h"

struct counters;

struct counters_opts {
	bool port_counters; /* also read ports/N/counters/ (costs one firmware command per file on
			       mlx5) */
	bool compat;	    /* readings for node_exporter's node_infiniband_* names too */
};

/* NULL only when out of memory. The struct hw must outlive it. */
struct counters *counters_new(const struct hw *, const struct counters_opts *);
void counters_free(struct counters *);

/* Lays the sample out for this host. 32-bit extensions and reset counts of ports that stay are
 * kept. Never fails as a whole; -ENOMEM leaves the old layout. */
int counters_layout(struct counters *, const struct host *);

/* Takes one sample; the result is borrowed until the next call of counters_read(),
 * counters_layout() or counters_free(). The host, which must be the one that was laid out last, is
 * needed when a source is no longer what it was then. now_ms: monotonic. */
const struct sample *counters_read(struct counters *, const struct host *, uint64_t now_ms);

/* Reads one port of the last sample again, without what the driver is asked for seldom: from then
 * on the sample has newer readings of this port than of others. Returns how many questions drivers
 * were asked, or -ESTALE: the port is no longer what was laid out, and the next sample will tell.
 */
int counters_read_port(struct counters *, size_t port);

/* Enables the named optional counters on all ports that have them (RDMA_NLDEV_CMD_STAT_SET replaces
 * the whole set). Needs CAP_NET_ADMIN. names: n strings. Returns 0 or the first failure, having
 * tried all. */
int counters_enable_optional(const struct hw *, const struct host *, const char *const *names,
			     size_t n, struct err *);
