#include "ctl_table.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "utf8.h"

void table_add(struct table *t, const char *text)
{
	char **cell = t->failed ? NULL : array_push(t->cells, t->n_cells);

	if (cell)
		*cell = strdup(text && *text ? text : "-");
	if (!cell || !*cell)
		t->failed = true;
}

/* Characters, not bytes; a wide character counts as one. */
static size_t width_of(const char *s)
{
	size_t n = 0;

	for (; *s; n++)
		s += utf8_char(s) ? utf8_char(s) : 1;
	return n;
}

/* Names come from the kernel and from peers: a terminal must not take them for commands. C1 control
 * characters (U+0080 to U+009F) are two bytes in UTF-8, the first of them 0xc2. */
void table_put(const char *s, FILE *f)
{
	for (size_t n; *s; s += n ? n : 1) {
		const unsigned char *u = (const unsigned char *)s;
		bool control = u[0] < 0x20 || u[0] == 0x7f || (u[0] == 0xc2 && u[1] < 0xa0);

		n = utf8_char(s);
		if (n == 0 || control)
			fputc('?', f);
		else
			fwrite(s, 1, n, f);
	}
}

static void print_row(FILE *f, const char *const *cells, size_t n, const size_t *widths)
{
	for (size_t i = 0; i < n; i++) {
		table_put(cells[i], f);
		if (i + 1 < n)
			fprintf(f, "%*s", (int)(widths[i] - width_of(cells[i]) + 2), "");
	}
	fputc('\n', f);
}

void table_print(const struct table *t, FILE *f)
{
	size_t widths[TABLE_COLUMNS_MAX], n = t->n_columns;

	if (t->failed || n == 0 || t->n_cells == 0)
		return;
	for (size_t i = 0; i < n; i++)
		widths[i] = width_of(t->heads[i]);
	for (size_t i = 0; i < t->n_cells; i++)
		if (width_of(t->cells[i]) > widths[i % n])
			widths[i % n] = width_of(t->cells[i]);
	print_row(f, t->heads, n, widths);
	for (size_t i = 0; i + n <= t->n_cells; i += n)
		print_row(f, (const char *const *)t->cells + i, n, widths);
}

void table_done(struct table *t)
{
	for (size_t i = 0; i < t->n_cells; i++)
		free(t->cells[i]);
	free(t->cells);
	*t = (struct table){0};
}
