/* functions.h - which PCI functions and sub-functions of this host carry network or RDMA devices,
 * or are processing accelerators, which pools may offer.
 *
 * Read from sysfs alone: linux/Documentation/ABI/testing/sysfs-bus-pci (physfn, virtfnN,
 * sriov_numvfs, sriov_totalvfs, numa_node, class, acpi_index) and sysfs-bus-auxiliary. */
#pragma once

#include "hw.h"

/* Appends to host->functions, each id once, unsorted. A function that vanishes meanwhile is left
 * out. Fails only when neither the buses nor the classes can be listed, or with -ENOMEM. */
int functions_read(const struct hw *, struct host *, struct err *);

/* Is this PCI device, an open directory, one of those? */
bool is_function(int dir);
/* Is this PCI device, an open directory, suspended or about to be? Reading its configuration space
 * would wake it. */
bool function_sleeps(int dir);

/* Pure: the function that a device path ends in. "../../devices/pci0000:00/0000:18:00.1/net/eth0"
 * is on "0000:18:00.1"; below a sub-function it is that. False when no component names one. */
bool function_id_from_path(const char *path, char ret[DEV_ID_SIZE]);
/* Pure: what stands above the function `id` in a device path, from the root complex on:
 * "pci0000:00/0000:00:01.0". False, *ret untouched: the path does not lead through both. */
bool function_path(const char *path, const char *id, char ret[PCI_PATH_SIZE]);

/* --- vDPA ------------------------------------------------------------------------------------- */

/* vDPA devices on the host's functions, and what they are bound to, from sysfs:
 * linux/Documentation/ABI/testing/sysfs-bus-vdpa; the character device of a vhost_vdpa device is a
 * child of it, linux/drivers/vhost/vdpa.c (vhost_vdpa_probe). */

/* Fills vdpa_driver and vdpa_node of the functions that have a vDPA device. */
void vdpa_read(const struct hw *, struct host *);
