/* SPDX-License-Identifier: Apache-2.0 */
/* device_name.h - resolves a device name from an admin request to a PCI function. Pure. */
#pragma once

#include "attach_status.h"
#include "err.h"

#define DEVICE_NAME_SIZE 128

/* Finds a function by its bus name, by the name of one of its netdevs in the host's namespace
 * (alternative names too) or of its RDMA device, by the node GUID of its RDMA device, or by the
 * host names recorded for a device that is in a pod now. The result is borrowed from the host or
 * the list. NULL: -ENODEV, or -ENOTUNIQ if several functions have the name. */
const char *device_by_name(const struct host *, struct attach_list, const char *name, struct err *);
/* Like device_by_name(), but for read-only requests: also accepts a netdev that uses the function,
 * i.e. one with an RDMA port of the function, a bond or bridge above it, or a VLAN or IPoIB child
 * of these; the name of one of its ports, "mlx5_0/1", or of a slot, "mlx5_0-7". -ENOTUNIQ lists the
 * functions. Never use it for a change: a change must name the device itself. */
const char *device_behind_name(const struct host *, struct attach_list, const char *name,
			       struct err *);
/* True if the name ends with the mark and a number: the port "mlx5_0/1", the slot "mlx5_0-7". ret:
 * the part before the mark. */
bool device_name_of_numbered(const char *name, char mark, char ret[DEVICE_NAME_SIZE]);
