/* SPDX-License-Identifier: Apache-2.0 */
/* hw.h - the interface of hw/: reads the host's network and RDMA hardware, synchronously.
 *
 * No libuv, no logging, no clock. Functions take a struct hw and return plain values or a negative
 * errno. Called from worker threads; a struct hw is read-only after hw_open(). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "model.h"

/* The root directories. */
struct hw {
	int sys_fd, dev_fd, proc_fd;
	/* sys_fd is this kernel's own /sys: netlink, verbs and ioctls describe the same machine and
	 * may be used. False under --sysfs-root with a copied or synthetic tree: then only its
	 * files are read. */
	bool live;
	bool no_bpf; /* set it after hw_open(): do not load BPF programs, even if data is missing
			then */
};

int hw_open(struct hw *, const char *sys_root, const char *dev_root, const char *proc_root,
	    struct err *);
void hw_close(struct hw *);

/* --- scan ------------------------------------------------------------------------------------- */

enum scan_part {
	SCAN_FUNCTIONS = 1 << 0, /* sysfs: PCI functions, VFs, sub-functions */
	/* rtnetlink dump(s), sysfs as fallback; names of network namespaces */
	SCAN_NETDEVS = 1 << 1,
	SCAN_RDMA = 1 << 2, /* RDMA netlink, sysfs: devices, ports, char devices, netns mode */
	/* rtnetlink, devlink, configuration spaces: may block during a device reset */
	SCAN_REPORTS = 1 << 3,
	SCAN_ALL = SCAN_FUNCTIONS | SCAN_NETDEVS | SCAN_RDMA | SCAN_REPORTS,
};

/* Sources of a scan. The first problem of each is kept, for the log and the metrics. */
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
	unsigned parts; /* enum scan_part bits of the parts that `host` holds completely; failed
			   parts are missing */
	struct host host;
	struct err problem[N_SCAN_SOURCES]; /* code 0 = none */
};

/* Scans the requested parts. Details of RDMA devices that are slow to read (MTUs, GIDs) are left
 * out and the device is marked stale. Never fails as a whole: unreadable parts are missing and
 * reported in `problem`. */
void hw_scan(const struct hw *, unsigned want, struct scan *ret);
void scan_done(struct scan *);

/* Reads the details of the stale devices of `h`, which must have none yet, and clears `stale` on
 * success. Opens each device (a firmware command or more), so mark only changed devices stale. */
void hw_read_details(const struct hw *, struct host *h, struct err problem[N_SCAN_SOURCES]);
const char *scan_source_name(enum scan_source);

/* Returns the slot for a reader's error, or NULL (accepted by err_set()) if the source has a
 * problem already. */
static inline struct err *problem_slot(struct err problem[N_SCAN_SOURCES], enum scan_source s)
{
	return problem[s].code ? NULL : &problem[s];
}
