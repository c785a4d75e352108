/* rdma_sysfs.h - RDMA devices from class/infiniband (linux/Documentation/ABI/stable/
 * sysfs-class-infiniband): everything where netlink cannot be asked, the rest of it otherwise. */
#pragma once

#include "hw.h"

/* Appends every device with its name and port numbers, nothing else. -ENOENT: no RDMA here. */
int rdma_sysfs_list(const struct hw *, struct host *);
/* Fills in what is unknown of the device, its function, driver and ports; what is known is neither
 * read nor changed. */
void rdma_sysfs_fill(const struct hw *, struct rdma_dev *);
/* Reads the GID tables of the ports whose table is unknown. */
void rdma_sysfs_gids(const struct hw *, struct rdma_dev *);
/* Takes the ports' netdevs from their GIDs. Only where netlink cannot be asked: sysfs names a
 * netdev without saying in which namespace that is its name. */
void rdma_sysfs_netdevs(const struct hw *, struct rdma_dev *);

/* Pure: the RDMA id of the PCI or auxiliary driver: "mlx5_core" and "mlx5_core.sf" are "mlx5". */
const char *rdma_driver_of(const char *driver);
/* Pure: "IB/RoCE v1" is GID_IB on InfiniBand and GID_ROCE_V1 on Ethernet. */
enum gid_type gid_type_parse(const char *, enum link_layer);

/* --- character devices ------------------------------------------------------------------------ */

/* Which character devices below /dev/infiniband belong to which RDMA device, from
 * class/infiniband_verbs, infiniband_mad and infiniband_cm. */

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
