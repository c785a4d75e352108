/* settings_read.h - what the host's RoCE ports are set to, read from the kernel for all of them at
 * once; never set.
 *
 * DCB and pause are the port's, which VFs and sub-functions share with their PF: theirs is what the
 * PF's netdev says. So is PCIe. A netdev that was moved out of our namespace, or a bond, tells
 * nothing. */
#pragma once

#include "hw.h"
#include "settings_table.h"

/* Blocks: for a firmware command per PF on some NICs, as any netlink request while a driver holds
 * the RTNL, and with a kernel that does not answer for seconds. What cannot be read is unknown,
 * part by part. -ENOMEM is the only failure, *ret is empty then. */
int settings_read(const struct hw *, const struct host *, struct settings_table *ret);
