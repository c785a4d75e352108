/* SPDX-License-Identifier: Apache-2.0 */
/* settings_read.h - reads the settings of all RoCE ports of the host from the kernel; never changes
 * them.
 *
 * DCB and pause settings belong to the physical port, which VFs and sub-functions share with their
 * PF, so they are read from the PF's netdev. The PCIe link is that of the PF, too. A netdev in
 * another namespace, or a bond, provides no settings. */
#pragma once

#include "hw.h"
#include "settings_table.h"

/* Reads the settings of all ports. It may block: some NICs need a firmware command per PF, a driver
 * may hold the RTNL, and the kernel may not answer for seconds. Parts that cannot be read are
 * unknown. -ENOMEM is the only failure; *ret is empty then. */
int settings_read(const struct hw *, const struct host *, struct settings_table *ret);
