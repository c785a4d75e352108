/* verbs.h - what only libibverbs tells: MTUs, the size of the GID table, the GID table at once with
 * types. Contexts are opened and closed again within the call; nothing is cached. */
#pragma once

#include "hw.h"

/* Fills active_mtu, max_mtu, gid_table_len, n_gids and gids of the ports of those of the n devices
 * that can be opened. The others are marked stale, and the first failure is in e. Devices of other
 * namespaces, and those that libibverbs does not know, stay untouched. */
void verbs_read(struct rdma_dev *devs, size_t n, struct err *e);
