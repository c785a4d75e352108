/* pcie.h - how the PCIe links of a function run, held against what both ends of each could do.
 *
 * A card that can do more than its slot is in order, and so is a slot that can do more than its
 * card. Attributes of sysfs: linux/Documentation/ABI/testing/sysfs-bus-pci, current_link_speed and
 * its like in linux/drivers/pci/pci-sysfs.c. */
#pragma once

#include "hw.h"
#include "port_settings.h"

/* Adds pcie and segment of a physical function, each as far as it can be seen. Asks the devices'
 * configuration spaces; none that sleeps is woken for it. */
void pcie_read(const struct hw *, const struct function *, struct port_settings *ret);

/* Pure: the link between two devices, from what each of them tells: as it runs, and as both of them
 * could run it. False, *ret untouched: they do not tell of one link. */
bool pcie_join(const struct pcie_link *lower, const struct pcie_link *upper, struct pcie_link *ret);
