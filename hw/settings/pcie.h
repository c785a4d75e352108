/* SPDX-License-Identifier: Apache-2.0 */
/* pcie.h - the current state of a function's PCIe links, compared with what both ends of each
 * support.
 *
 * A card that supports more than its slot is normal, and so is the reverse. Attributes of sysfs:
 * linux/Documentation/ABI/testing/sysfs-bus-pci, current_link_speed and the like in
 * linux/drivers/pci/pci-sysfs.c. */
#pragma once

#include "hw.h"
#include "port_settings.h"

/* Adds pcie and segment of a physical function, each if it can be read. Reads configuration spaces;
 * does not wake suspended devices. */
void pcie_read(const struct hw *, const struct function *, struct port_settings *ret);
