/* SPDX-License-Identifier: Apache-2.0 */
/* scan.h - the parts of a scan of the host, one file each: for scan.c. */
#pragma once

#include "hw.h"

/* Reads the host's network devices, and those of its functions in other namespaces: over rtnetlink,
 * or from class/net if that is not available. Appends to host->netdevs and host->namespaces,
 * unsorted. Returns 0 if our own namespace was read completely; other errors are in `problem`.
 * -EAGAIN: links kept changing during the read. */
int netdevs_read(const struct hw *, struct host *, struct err problem[N_SCAN_SOURCES]);

/* The fallback of netdevs_read(): reads our own namespace from class/net. It has no alternative
 * names, only a few kinds, and no interface flags except IFF_UP. Default routes come from the proc
 * root's net/route and net/ipv6_route, unless that is this kernel's /proc beside another machine's
 * sysfs. */
int netdevs_read_sysfs(const struct hw *, struct host *, struct err *);

/* Reads the host's RDMA devices with their ports, GID tables and character devices. Appends to
 * host->rdma, unsorted, and sets host->rdma_mode. The host's netdevs and namespaces must be known.
 * Returns 0 if our own namespace was read completely (also without any RDMA); other errors are in
 * `problem`. */
int rdma_read(const struct hw *, struct host *, struct err problem[N_SCAN_SOURCES]);

/* Reads the values that only libibverbs provides: MTUs, the size of the GID table, the GID table in
 * one call with types. Opens and closes contexts within the call; caches nothing. For those of the
 * n devices that can be opened, fills active_mtu, max_mtu, gid_table_len, n_gids and gids of their
 * ports. The others are marked stale, and the first failure is in e. Devices of other namespaces,
 * and those unknown to libibverbs, are not changed. */
void verbs_read(struct rdma_dev *devs, size_t n, struct err *e);

/* Reads the state of functions that is slow to query, because each query may block during a device
 * reset: the link states that PFs set for their VFs (rtnetlink; the driver is queried under the
 * RTNL), health reporters (devlink), and whether a PF responds on the bus (otherwise its
 * configuration space in sysfs reads all ones). VFs have no ids in their own configuration space
 * (PCI Express, SR-IOV 9.3.4.1.1), so only PFs are read. Appends to host->reports. Returns 0,
 * -ENOMEM, or a transient error, after which earlier reports should be kept; other errors are in
 * `problem`. */
int reports_read(const struct hw *, struct host *, struct err problem[N_SCAN_SOURCES]);
