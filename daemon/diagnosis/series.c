// SPDX-License-Identifier: Apache-2.0
#include "series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

struct series_row {
	const char *name; /* family{labels} */
	enum series first;
	int n;
};

static const struct series_row rows[] = {
#define X(id, n, kind, name) {name, SERIES_##id, n},
	SERIES_LIST(X)
#undef X
};

static size_t family_len(const struct series_row *row)
{
	return strcspn(row->name, "{");
}

static const struct series_row *series_row_of(enum series s)
{
	size_t i = 0;

	while (i + 1 < ARRAY_SIZE(rows) && rows[i + 1].first <= s)
		i++;
	return &rows[i];
}

/* wanted begins with `key="` (key_len bytes). Returns the value of that label in `labels`, or
 * NULL. */
static const char *series_value_of(const char *labels, const char *wanted, size_t key_len)
{
	for (const char *at = labels; (at = strstr(at, wanted)); at++)
		if ((at == labels || at[-1] == ',' || at[-1] == ' ' || at[-1] == '{') &&
		    strlen(at) > key_len)
			return at + key_len;
	return NULL;
}

/* Compares a row with labels. Returns -1 if a label of the row is not in `labels`; otherwise the
 * number in place of the row's '#', or 0 if the row has no '#'. */
static int match_labels(const struct series_row *row, const char *labels)
{
	const char *wanted = row->name + family_len(row);
	int number = 0;

	for (wanted += *wanted == '{'; *wanted && *wanted != '}'; wanted += strcspn(wanted, ",}")) {
		char key[24];
		size_t key_len, value_len;
		const char *value, *given;

		wanted += *wanted == ',';
		key_len = strcspn(wanted, "\"") + 1;
		memcpy(key, wanted, key_len);
		key[key_len] = '\0';
		value = wanted + key_len;
		value_len = strcspn(value, "\"");
		given = series_value_of(labels, key, key_len);
		if (!given)
			return -1;
		if (*value == '#') {
			char *end;
			long n = strtol(given, &end, 10);

			if (end == given || *end != '"' || n < 0 || n >= row->n)
				return -1;
			number = (int)n;
		} else if (strncmp(given, value, value_len) != 0 || given[value_len] != '"') {
			return -1;
		}
	}
	return number;
}

int series_find(const char *family, const char *labels)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int number;

		size_t len = family_len(&rows[i]);

		if (strncmp(rows[i].name, family, len) != 0 || family[len])
			continue;
		number = match_labels(&rows[i], labels);
		if (number >= 0)
			return (int)rows[i].first + number;
	}
	return -1;
}

const char *series_name(enum series s)
{
	return series_row_of(s)->name;
}

void series_full_name(enum series s, char ret[SERIES_NAME_SIZE])
{
	const struct series_row *row = series_row_of(s);
	const char *mark = strchr(row->name, '#');

	if (mark)
		snprintf(ret, SERIES_NAME_SIZE, "%.*s%d%s", (int)(mark - row->name), row->name,
			 (int)(s - row->first), mark + 1);
	else
		snprintf(ret, SERIES_NAME_SIZE, "%s", row->name);
}

const unsigned char series_kinds[N_SERIES] = {
#define X(id, n, kind, name) [SERIES_##id... SERIES_##id##_LAST] = SERIES_##kind,
	SERIES_LIST(X)
#undef X
};

int series_number(enum series s)
{
	const struct series_row *row = series_row_of(s);

	return row->n > 1 ? (int)(s - row->first) : -1;
}
