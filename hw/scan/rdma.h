/* rdma.h - the host's RDMA devices with their ports, GID tables and character devices. */
#pragma once

#include "hw.h"

/* Appends to host->rdma, unsorted, and sets host->rdma_mode. The host's netdevs and namespaces must
 * be known. 0 when our own namespace was read completely (no RDMA at all is complete, too); what
 * else failed is in `problem`. */
int rdma_read(const struct hw *, struct host *, struct err problem[N_SCAN_SOURCES]);
