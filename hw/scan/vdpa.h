/* vdpa.h - vDPA devices on the host's functions, and what they are bound to.
 *
 * From sysfs: linux/Documentation/ABI/testing/sysfs-bus-vdpa; the character device of a vhost_vdpa
 * device is a child of it, linux/drivers/vhost/vdpa.c (vhost_vdpa_probe). */
#pragma once

#include "hw.h"

/* Fills vdpa_driver and vdpa_node of the functions that have a vDPA device. */
void vdpa_read(const struct hw *, struct host *);
