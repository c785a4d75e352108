/* SPDX-License-Identifier: Apache-2.0 */
/* settings_table.h - the settings of all RoCE ports of the host. Pure. */
#pragma once

#include <stddef.h>

#include "port_settings.h"

struct settings_row {
	char device[RDMA_NAME_SIZE];
	uint32_t port;
	struct port_settings settings;
};

/* Zero-initialised it is empty. */
struct settings_table {
	struct settings_row *rows; /* one per port, sorted by settings_sort() */
	size_t n;
};

void settings_sort(struct settings_table *);
void settings_done(struct settings_table *);
/* Returns the settings of a port, borrowed; NULL: not in the table. */
const struct port_settings *settings_of(const struct settings_table *, const char *device,
					uint32_t port);
/* Compares the bytes of the tables, whose rows are zero-initialised. If a compiler does not
 * preserve padding, equal tables may compare as different, which is harmless. */
bool settings_equal(const struct settings_table *, const struct settings_table *);
/* Copies a table; frees *ret first. -ENOMEM leaves it empty. */
int settings_copy(struct settings_table *ret, const struct settings_table *);
