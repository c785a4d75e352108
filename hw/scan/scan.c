// SPDX-License-Identifier: Apache-2.0
/* scan.c - scans the host: functions, network devices, RDMA devices, reports.
 *
 * Each part is read by its own file and can fail separately. RDMA devices refer to network devices,
 * so a scan of them includes those. */
#include "scan.h"
#include "functions.h"
#include "hw.h"
#include "sysfs.h"

const char *scan_source_name(enum scan_source s)
{
	static const char *const names[] = {[SRC_SYSFS] = "sysfs",
					    [SRC_RTNETLINK] = "rtnetlink",
					    [SRC_RDMA_NETLINK] = "rdma_netlink",
					    [SRC_VERBS] = "verbs",
					    [SRC_NETNS] = "netns",
					    [SRC_DEVLINK] = "devlink"};

	return (unsigned)s < N_SCAN_SOURCES ? names[s] : "unknown";
}

/* Discards the scan if descriptors or memory ran out: existing files may appear missing. */
static void discard_if_exhausted(struct scan *s)
{
	int code = sysfs_exhausted();

	if (code == 0)
		return;
	s->parts = 0;
	s->problem[SRC_SYSFS] = (struct err){0};
	err_set(&s->problem[SRC_SYSFS], code, "%s during the scan", strerror(-code));
}

void hw_scan(const struct hw *hw, unsigned want, struct scan *ret)
{
	*ret = (struct scan){0};
	sysfs_exhausted(); /* resets errors from before this scan */
	if (want & SCAN_RDMA)
		want |= SCAN_NETDEVS;
	if (want & SCAN_FUNCTIONS &&
	    functions_read(hw, &ret->host, problem_slot(ret->problem, SRC_SYSFS)) == 0)
		ret->parts |= SCAN_FUNCTIONS;
	if (want & SCAN_NETDEVS && netdevs_read(hw, &ret->host, ret->problem) == 0)
		ret->parts |= SCAN_NETDEVS;
	if (want & SCAN_RDMA && rdma_read(hw, &ret->host, ret->problem) == 0)
		ret->parts |= SCAN_RDMA;
	if (want & SCAN_REPORTS && reports_read(hw, &ret->host, ret->problem) == 0)
		ret->parts |= SCAN_REPORTS;
	if ((ret->parts & SCAN_ALL) == SCAN_ALL && host_sync_virtual(&ret->host) < 0)
		ret->parts &= ~(unsigned)SCAN_FUNCTIONS;
	discard_if_exhausted(ret);
	host_sort(&ret->host);
	host_join_reports(&ret->host);
}

void scan_done(struct scan *s)
{
	host_done(&s->host);
	*s = (struct scan){0};
}
