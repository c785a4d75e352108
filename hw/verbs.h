/* verbs.h - what only libibverbs tells: MTUs, the size of the GID table, the GID table at once with
 * types. Contexts are opened and closed again within the call; nothing is cached. */
#pragma once

#include "hw.h"

/* Fills active_mtu, max_mtu, gid_table_len, n_gids and gids of the ports of those of the n devices
 * that can be opened. The rest stays untouched, and the first failure is in e. */
void verbs_read(struct rdma_dev *devs, size_t n, struct err *e);
