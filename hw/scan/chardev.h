/* chardev.h - which character devices below /dev/infiniband belong to which RDMA device, from
 * class/infiniband_verbs, infiniband_mad and infiniband_cm. */
#pragma once

#include "hw.h"

struct chardev_table {
	struct chardev *items; /* sorted by RDMA device, then port, then name */
	size_t n;
};

/* Reads all of them. A class that does not exist has no devices. 0 or -ENOMEM. */
int chardevs_read(const struct hw *, struct chardev_table *ret);
void chardevs_done(struct chardev_table *);
/* Writes the names of d's devices into d. The device's name is compared as a whole: "mlx5_1" never
 * takes those of "mlx5_10". */
void chardevs_assign(const struct chardev_table *, struct rdma_dev *d);
