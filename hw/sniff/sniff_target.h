/* sniff_target.h - which netdev and which RDMA device a name means, from sysfs alone: the name of
 * either, or of the function below both. */
#pragma once

#include "hw.h"

struct sniff_target {
	char netdev[IFNAMSIZ];	   /* "" = it has none here */
	char rdma[RDMA_NAME_SIZE]; /* "" = none */
	bool soft; /* the RDMA device is the kernel's own: its packets all pass the netdev */
};

/* -ENODEV: nothing here has that name. */
int sniff_target_find(const struct hw *, const char *name, struct sniff_target *ret);
/* Is this RDMA device the kernel's own? What sysfs does not show is in a namespace of its own,
 * where soft-RoCE cannot be. */
bool sniff_target_is_soft(const struct hw *, const char *rdma);
