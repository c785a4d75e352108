/* claim_device.h - what the device of a claim is, by the name that its DRA driver gave it. Pure.
 *
 * The name is a DNS label, so drivers of PCI functions write the address with dashes, some with a
 * word before it: "0000-18-00-1", "pci-0000-18-00-1". */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Rewrites such a name as the address, "0000:18:00.1", which is not longer. Any other stays. */
void claim_device_address(char *name);
