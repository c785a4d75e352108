/* SPDX-License-Identifier: Apache-2.0 */
/* sniff_target.h - finds the netdev and the RDMA device for a name, using sysfs only. The name may
 * be that of either, or of their function. */
#pragma once

#include "hw.h"

struct sniff_target {
	char netdev[IFNAMSIZ];	   /* "" = none in our namespace */
	char rdma[RDMA_NAME_SIZE]; /* "" = none */
	bool soft; /* software RDMA device: all its packets pass through the netdev */
};

/* -ENODEV: no object has that name. */
int sniff_target_find(const struct hw *, const char *name, struct sniff_target *ret);
/* Whether the RDMA device is implemented by the kernel. False for devices that are not in sysfs:
 * they are in another namespace, where soft-RoCE cannot be. */
bool sniff_target_is_soft(const struct hw *, const char *rdma);
