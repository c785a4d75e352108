/* boot_id.h - which boot of the node this is. */
#pragma once

#include "attachment.h"
#include "hw.h"

/* The kernel's own, chosen at random each time (linux/Documentation/admin-guide/sysctl/kernel.rst,
 * "random"): 36 characters. "" when it cannot be read, or is nothing of the kind. */
void boot_id_read(const struct hw *, char ret[BOOT_ID_SIZE]);
