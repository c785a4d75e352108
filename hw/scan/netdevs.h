/* netdevs.h - the host's network devices, and those of its functions that live in other namespaces.
 *
 * From rtnetlink; from class/net where that cannot be asked. */
#pragma once

#include "hw.h"

/* Appends to host->netdevs and host->namespaces, unsorted. 0 when our own namespace was read
 * completely; what else failed is in `problem`. -EAGAIN: links kept changing while they were read.
 */
int netdevs_read(const struct hw *, struct host *, struct err problem[N_SCAN_SOURCES]);

/* The fallback: our own namespace from class/net. No alternative names, no kinds but a few, no
 * interface flags but IFF_UP. Default routes from the proc root's net/route and net/ipv6_route,
 * unless it is this kernel's own /proc beside another machine's sysfs. */
int netdevs_read_sysfs(const struct hw *, struct host *, struct err *);
