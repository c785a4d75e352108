/* SPDX-License-Identifier: Apache-2.0 */
/* claim_device.h - recognises a PCI address in the name that a DRA driver assigns to a claim's
 * device. Pure.
 *
 * The name is a DNS label, so drivers of PCI functions write the address with dashes, some with a
 * prefix: "0000-18-00-1", "pci-0000-18-00-1". */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Replaces such a name in place by the address, "0000:18:00.1"; other names are unchanged. */
void claim_device_address(char *name);
