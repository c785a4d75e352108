/* hw.h - what hw/ offers: the host's network and RDMA hardware, read synchronously.
 *
 * No libuv, no logging, no clock. Everything takes a struct hw and returns plain values or a
 * negative errno. Called from worker threads; a struct hw is read-only after hw_open(). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "model.h"

/* The roots everything is read below. */
struct hw {
	int sys_fd, dev_fd, proc_fd;
	/* sys_fd is this kernel's own /sys: netlink, verbs and ioctls describe the same machine and
	 * may be asked. False under --sysfs-root of a copied or synthetic tree: then sysfs files
	 * are all there is. */
	bool live;
	bool no_bpf; /* load no program, whatever only one could tell; set after hw_open() */
};

int hw_open(struct hw *, const char *sys_root, const char *dev_root, const char *proc_root,
	    struct err *);
void hw_close(struct hw *);

/* --- scan: the truth about the host ------------------------------------------------------- */

enum scan_part {
	SCAN_FUNCTIONS = 1 << 0, /* sysfs: PCI functions, VFs, sub-functions */
	/* rtnetlink dump(s), sysfs as fallback; names of network namespaces */
	SCAN_NETDEVS = 1 << 1,
	SCAN_RDMA = 1 << 2, /* RDMA netlink, sysfs: devices, ports, char devices, netns mode */
	/* rtnetlink, devlink, configuration spaces: what may wait for a device's reset */
	SCAN_REPORTS = 1 << 3,
	SCAN_ALL = SCAN_FUNCTIONS | SCAN_NETDEVS | SCAN_RDMA | SCAN_REPORTS,
};

/* What a scan could not do, for the log and the metrics: one bit and one sentence each, the first
 * per source. */
enum scan_source {
	SRC_SYSFS,
	SRC_RTNETLINK,
	SRC_RDMA_NETLINK,
	SRC_VERBS,
	SRC_NETNS,
	SRC_DEVLINK,
	N_SCAN_SOURCES
};

struct scan {
	unsigned parts; /* enum scan_part bits that `host` holds completely; a part that failed is
			   missing here */
	struct host host;
	struct err problem[N_SCAN_SOURCES]; /* code 0 = none */
};

/* Reads the wanted parts. RDMA devices whose details (MTUs, GIDs) take long to read come without
 * them and marked stale. Never fails as a whole: what cannot be read is absent and named in
 * `problem`. */
void hw_scan(const struct hw *, unsigned want, struct scan *ret);
void scan_done(struct scan *);

/* Reads the details of the stale devices of `h`, which must have none yet, and clears the mark of
 * those that could be read. Opens each device (a firmware command or more), so only what changed
 * should be stale. */
void hw_read_details(const struct hw *, struct host *h, struct err problem[N_SCAN_SOURCES]);
const char *scan_source_name(enum scan_source);

/* Where a reader leaves what it could not do, the first per source: the slot to write into, or NULL
 * (err_set() copes) when the source has a problem already. */
static inline struct err *problem_slot(struct err problem[N_SCAN_SOURCES], enum scan_source s)
{
	return problem[s].code ? NULL : &problem[s];
}
