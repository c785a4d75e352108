/* SPDX-License-Identifier: Apache-2.0 */
/* settings_read.h - reads the settings of all RoCE ports of the host from the kernel; never changes
 * them.
 *
 * DCB and pause belong to the port, which VFs and sub-functions share with their PF: their settings
 * are those of the PF's netdev. The same holds for PCIe. A netdev in another namespace, or a bond,
 * provides no settings. */
#pragma once

#include "hw.h"
#include "settings_table.h"

/* Blocks: for a firmware command per PF on some NICs, like any netlink request while a driver holds
 * the RTNL, and for seconds if the kernel does not answer. Parts that cannot be read are unknown.
 * -ENOMEM is the only failure; *ret is empty then. */
int settings_read(const struct hw *, const struct host *, struct settings_table *ret);
