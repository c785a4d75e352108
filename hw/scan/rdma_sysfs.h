/* SPDX-License-Identifier: Apache-2.0 */
/* rdma_sysfs.h - reads RDMA devices from class/infiniband (linux/Documentation/ABI/stable/
 * sysfs-class-infiniband): everything if netlink is not available, else only the values that
 * netlink does not report. */
#pragma once

#include "hw.h"

/* Appends every device with its name and port numbers only. -ENOENT: no RDMA on this host. */
int rdma_sysfs_list(const struct hw *, struct host *);
/* Fills in the unknown values of the device, its function, driver and ports; known values are
 * neither read nor changed. */
void rdma_sysfs_fill(const struct hw *, struct rdma_dev *);
/* Reads the GID tables of ports whose table is unknown. */
void rdma_sysfs_gids(const struct hw *, struct rdma_dev *);
/* Determines the ports' netdevs from their GIDs. Use it only if netlink is not available, because
 * sysfs does not show in which namespace the netdev has this name. */
void rdma_sysfs_netdevs(const struct hw *, struct rdma_dev *);

/* Pure: the RDMA id for a PCI or auxiliary driver: "mlx5_core" and "mlx5_core.sf" give "mlx5". */
const char *rdma_driver_of(const char *driver);
/* Pure: "IB/RoCE v1" is GID_IB on InfiniBand and GID_ROCE_V1 on Ethernet. */
enum gid_type gid_type_parse(const char *, enum link_layer);

/* --- character devices ------------------------------------------------------------------------ */

/* The character devices below /dev/infiniband of each RDMA device, from class/infiniband_verbs,
 * infiniband_mad and infiniband_cm. */

struct chardev_table {
	struct chardev *items; /* sorted by RDMA device, then port, then name */
	size_t n;
};

/* Reads all of them. A missing class has no devices. Returns 0 or -ENOMEM. */
int chardevs_read(const struct hw *, struct chardev_table *ret);
void chardevs_done(struct chardev_table *);
/* Writes the names of d's character devices into d. Compares whole device names: "mlx5_1" never
 * gets those of "mlx5_10". */
void chardevs_assign(const struct chardev_table *, struct rdma_dev *d);
