/* SPDX-License-Identifier: Apache-2.0 */
/* device_name.h - resolves a device name from an admin request to a PCI function. Pure. */
#pragma once

#include "attach_status.h"
#include "err.h"

/* Finds a function by its bus name, by the name of one of its netdevs in the host's namespace
 * (alternative names too) or of its RDMA device, or by the host names recorded for a device that is
 * in a pod now. The result is borrowed from the host or the list. NULL: -ENODEV, or -ENOTUNIQ if
 * several functions have the name. */
const char *device_by_name(const struct host *, struct attach_list, const char *name, struct err *);
/* Like device_by_name(), but for read-only requests: also accepts a netdev that uses the function,
 * i.e. one with an RDMA port of the function, a bond or bridge above it, or a VLAN or IPoIB child
 * of these. -ENOTUNIQ lists the functions. Never use it for a change, which must name one device by
 * its own name. */
const char *device_behind_name(const struct host *, struct attach_list, const char *name,
			       struct err *);
