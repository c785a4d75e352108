/* reports.h - what speaks for or against functions and is slow to ask: each of these may wait for
 * a device that is being reset.
 *
 * The link states that PFs set for their VFs (rtnetlink; the driver is asked under the RTNL),
 * health reporters (devlink), and whether a PF answers on the bus at all (its configuration space
 * in sysfs reads all ones when it does not). VFs have no ids in their own configuration space
 * (PCI Express, SR-IOV 9.3.4.1.1), so only PFs are read. */
#pragma once

#include "hw.h"

/* Appends to host->reports. 0, or -ENOMEM; what else failed is in `problem`. */
int reports_read(const struct hw *, struct host *, struct err problem[N_SCAN_SOURCES]);
