/* SPDX-License-Identifier: Apache-2.0 */
/* resource_tables.h - a small resource table with devices in every state. */
#pragma once

#include "resource_table.h"

/* Two resources: VFs 0000:03:00.2 (held), .3 (reserved, unhealthy), .4 (free), and a shared one
 * with three slots on mlx5_0's function 0000:03:00.0. 0000:05:00.0 is not offered. Free with
 * resource_table_done(). */
void resource_table_small(struct resource_table *);
