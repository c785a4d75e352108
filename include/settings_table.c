// SPDX-License-Identifier: Apache-2.0
#include "settings_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int cmp_row(const void *a, const void *b)
{
	const struct settings_row *ra = a, *rb = b;
	int r = strcmp(ra->device, rb->device);

	return r ? r : (ra->port > rb->port) - (ra->port < rb->port);
}

void settings_sort(struct settings_table *t)
{
	if (t->n)
		qsort(t->rows, t->n, sizeof(*t->rows), cmp_row);
}

void settings_done(struct settings_table *t)
{
	free(t->rows);
	*t = (struct settings_table){0};
}

bool settings_equal(const struct settings_table *a, const struct settings_table *b)
{
	return a->n == b->n &&
	       (a->n == 0 || memcmp(a->rows, b->rows, a->n * sizeof(*a->rows)) == 0);
}

int settings_copy(struct settings_table *ret, const struct settings_table *t)
{
	struct settings_row *rows = t->n ? malloc(t->n * sizeof(*rows)) : NULL;

	settings_done(ret);
	if (t->n && !rows)
		return -ENOMEM;
	if (t->n)
		memcpy(rows, t->rows, t->n * sizeof(*rows));
	*ret = (struct settings_table){rows, t->n};
	return 0;
}

const struct port_settings *settings_of(const struct settings_table *t, const char *device,
					uint32_t port)
{
	struct settings_row key = {.port = port};
	const struct settings_row *row;

	snprintf(key.device, sizeof(key.device), "%s", device);
	row = t->n ? bsearch(&key, t->rows, t->n, sizeof(key), cmp_row) : NULL;
	return row ? &row->settings : NULL;
}
