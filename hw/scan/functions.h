/* SPDX-License-Identifier: Apache-2.0 */
/* functions.h - the PCI functions and sub-functions of this host that carry network or RDMA
 * devices, or are processing accelerators, which pools may offer.
 *
 * Read from sysfs only: linux/Documentation/ABI/testing/sysfs-bus-pci (physfn, virtfnN,
 * sriov_numvfs, sriov_totalvfs, numa_node, class, acpi_index) and sysfs-bus-auxiliary. */
#pragma once

#include "hw.h"

/* Appends to host->functions, each id once, unsorted. Functions removed meanwhile are left out.
 * Fails only if neither the buses nor the classes can be listed, or with -ENOMEM. */
int functions_read(const struct hw *, struct host *, struct err *);

/* True if the PCI device with this open directory is such a function. */
bool is_function(int dir);
/* True if the PCI device with this open directory is suspended or suspending: reading its
 * configuration space would wake it. */
bool function_sleeps(int dir);

/* Pure: gets the last function in a device path. "../../devices/pci0000:00/0000:18:00.1/net/eth0"
 * gives "0000:18:00.1"; a path below a sub-function gives the sub-function. False if the path has
 * no function. */
bool function_id_from_path(const char *path, char ret[DEV_ID_SIZE]);
/* Pure: gets the part of a device path from the root complex to the parent of the function `id`:
 * "pci0000:00/0000:00:01.0". False, *ret untouched: the path does not contain both. */
bool function_path(const char *path, const char *id, char ret[PCI_PATH_SIZE]);

/* --- vDPA ------------------------------------------------------------------------------------- */

/* vDPA devices on the host's functions and their drivers, from sysfs:
 * linux/Documentation/ABI/testing/sysfs-bus-vdpa; the character device of a vhost_vdpa device is a
 * child of it, linux/drivers/vhost/vdpa.c (vhost_vdpa_probe). */

/* Fills vdpa_driver and vdpa_node of the functions that have a vDPA device. Costs one open if the
 * host has no vDPA bus. */
void vdpa_read(const struct hw *, struct host *);
