/* settings_table.h - what all of the host's RoCE ports are set to. Pure. */
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
	struct settings_row *rows; /* one for each port, as settings_sort() leaves them */
	size_t n;
};

void settings_sort(struct settings_table *);
void settings_done(struct settings_table *);
/* Of that port, borrowed; NULL: the table has none. */
const struct port_settings *settings_of(const struct settings_table *, const char *device,
					uint32_t port);
/* Rows come zeroed, so equal ones have equal bytes; should a compiler leave padding out, tables
 * differ once too often. */
bool settings_equal(const struct settings_table *, const struct settings_table *);
/* *ret is freed before. -ENOMEM: it is empty. */
int settings_copy(struct settings_table *ret, const struct settings_table *);
