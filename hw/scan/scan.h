/* scan.h - the parts of a look at the host, each read by its own file: for scan.c. */
#pragma once

#include "hw.h"

/* The host's network devices, and those of its functions that live in other namespaces: from
 * rtnetlink; from class/net where that cannot be asked. Appends to host->netdevs and
 * host->namespaces, unsorted. 0 when our own namespace was read completely; what else failed is in
 * `problem`. -EAGAIN: links kept changing while they were read. */
int netdevs_read(const struct hw *, struct host *, struct err problem[N_SCAN_SOURCES]);

/* The fallback: our own namespace from class/net. No alternative names, no kinds but a few, no
 * interface flags but IFF_UP. Default routes from the proc root's net/route and net/ipv6_route,
 * unless it is this kernel's own /proc beside another machine's sysfs. */
int netdevs_read_sysfs(const struct hw *, struct host *, struct err *);

/* The host's RDMA devices with their ports, GID tables and character devices. Appends to
 * host->rdma, unsorted, and sets host->rdma_mode. The host's netdevs and namespaces must be known.
 * 0 when our own namespace was read completely (no RDMA at all is complete, too); what else failed
 * is in `problem`. */
int rdma_read(const struct hw *, struct host *, struct err problem[N_SCAN_SOURCES]);

/* What only libibverbs tells: MTUs, the size of the GID table, the GID table at once with types.
 * Contexts are opened and closed again within the call; nothing is cached. Fills active_mtu,
 * max_mtu, gid_table_len, n_gids and gids of the ports of those of the n devices that can be
 * opened. The others are marked stale, and the first failure is in e. Devices of other namespaces,
 * and those that libibverbs does not know, stay untouched. */
void verbs_read(struct rdma_dev *devs, size_t n, struct err *e);

/* What speaks for or against functions and is slow to ask: each of these may wait for a device that
 * is being reset. The link states that PFs set for their VFs (rtnetlink; the driver is asked under
 * the RTNL), health reporters (devlink), and whether a PF answers on the bus at all (its
 * configuration space in sysfs reads all ones when it does not). VFs have no ids in their own
 * configuration space (PCI Express, SR-IOV 9.3.4.1.1), so only PFs are read. Appends to
 * host->reports. 0, or -ENOMEM; what else failed is in `problem`. */
int reports_read(const struct hw *, struct host *, struct err problem[N_SCAN_SOURCES]);
