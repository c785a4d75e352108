// SPDX-License-Identifier: Apache-2.0
#include "ctl_table.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "ctl_age.h"
#include "utf8.h"

void table_add(struct table *t, const char *text)
{
	size_t column = t->n_cells % t->n_columns;
	struct table_row *row = NULL;

	if (!t->failed && column > 0)
		row = &t->rows[t->n_rows - 1];
	else if (!t->failed)
		row = array_push(t->rows, t->n_rows);
	if (row && column == 0)
		row->number = t->n_rows;
	if (row) {
		row->object = t->object;
		row->cells[column] = strdup(text && *text ? text : "-");
	}
	t->failed |= !row || !row->cells[column];
	t->n_cells++;
}

const char *table_keep(struct table *t, const char *head, size_t len)
{
	char *copy = t->n_kept < TABLE_COLUMNS_MAX ? strndup(head, len) : NULL;

	if (copy)
		t->kept[t->n_kept++] = copy;
	t->failed |= !copy;
	return copy ? copy : "";
}

static void row_done(struct table_row *row)
{
	for (size_t i = 0; i < TABLE_COLUMNS_MAX; i++)
		free(row->cells[i]);
}

void table_drop_row(struct table *t, size_t row)
{
	row_done(&t->rows[row]);
	t->n_rows--;
	memmove(t->rows + row, t->rows + row + 1, (t->n_rows - row) * sizeof(*t->rows));
	t->n_cells -= t->n_columns;
}

/* --- order ------------------------------------------------------------------------------------ */

struct row_order {
	size_t column;
	bool largest_first;
};

static bool table_is_unknown(const char *cell)
{
	return strcmp(cell, "-") == 0;
}

/* Ranks severities, the worst first, also with an addition as in "critical (PF)". Other words come
 * last. */
static size_t severity_rank(const char *cell)
{
	static const char *const words[] = {"critical", "warning", "info", "ok"};
	size_t i = 0;

	for (; i < ARRAY_SIZE(words); i++) {
		size_t n = strlen(words[i]);

		if (strncmp(cell, words[i], n) == 0 && (cell[n] == '\0' || cell[n] == ' '))
			break;
	}
	return i;
}

/* Compares severities by rank, numbers with the same unit by value ("9us" < "12.3us"), names and
 * addresses by strverscmp(3) (mlx5_9 < mlx5_10). */
static int cells_compare(const char *a, const char *b)
{
	int64_t age_a = age_seconds(a), age_b = age_seconds(b);
	char *rest_a, *rest_b;
	double x = strtod(a, &rest_a), y = strtod(b, &rest_b);
	size_t rank_a = severity_rank(a), rank_b = severity_rank(b);

	if (rank_a != rank_b)
		return rank_a < rank_b ? -1 : 1;
	if (age_a >= 0 && age_b >= 0)
		return (age_a > age_b) - (age_a < age_b);
	if (rest_a != a && rest_b != b && strcmp(rest_a, rest_b) == 0 && x != y)
		return x < y ? -1 : 1;
	return strverscmp(a, b);
}

static int rows_compare(const void *a, const void *b, void *arg)
{
	const struct table_row *x = a, *y = b;
	const struct row_order *o = arg;
	const char *p = x->cells[o->column], *q = y->cells[o->column];
	int r;

	if (table_is_unknown(p) != table_is_unknown(q))
		return table_is_unknown(p) ? 1 : -1;
	r = cells_compare(p, q);
	if (r == 0)
		return x->number < y->number ? -1 : x->number > y->number;
	return o->largest_first ? -r : r;
}

void table_sort(struct table *t, size_t column, bool largest_first)
{
	struct row_order order = {column, largest_first};

	if (!t->failed && t->n_rows > 1)
		qsort_r(t->rows, t->n_rows, sizeof(*t->rows), rows_compare, &order);
}

/* arg: the levels of the objects. */
static int worst_compare(const void *a, const void *b, void *arg)
{
	const struct table_row *x = a, *y = b;
	const int *levels = arg;

	if (levels[x->object] != levels[y->object])
		return levels[x->object] < levels[y->object] ? 1 : -1;
	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	if (x->level != y->level)
		return x->level < y->level ? 1 : -1;
	return x->number < y->number ? -1 : x->number > y->number;
}

void table_sort_worst(struct table *t)
{
	size_t n = 0;
	int *levels;

	for (size_t i = 0; i < t->n_rows; i++)
		n = t->rows[i].object >= n ? t->rows[i].object + 1 : n;
	levels = calloc(n + 1, sizeof(*levels));
	for (size_t i = 0; levels && i < t->n_rows; i++)
		if (t->rows[i].level > levels[t->rows[i].object])
			levels[t->rows[i].object] = t->rows[i].level;
	if (levels && !t->failed && t->n_rows > 1)
		qsort_r(t->rows, t->n_rows, sizeof(*t->rows), worst_compare, levels);
	t->failed |= !levels;
	free(levels);
}

/* --- print ------------------------------------------------------------------------------------ */

/* Number of characters, not bytes; wide characters count as one. */
static size_t width_of(const char *s)
{
	size_t n = 0;

	for (; *s; n++)
		s += utf8_char(s) ? utf8_char(s) : 1;
	return n;
}

/* Names come from the kernel and from peers, and must not control the terminal. C1 control
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

/* Colour of a word that denotes a state (ECMA-48, SGR); NULL for other words. */
static const char *colour_of(const char *cell)
{
	static const struct {
		const char *word, *colour;
	} words[] = {
		{"critical", "31"}, {"bad", "31"},	 {"down", "31"},       {"refused", "31"},
		{"unseen", "31"},   {"unhealthy", "31"}, {"warning", "33"},    {"Warning", "33"},
		{"init", "33"},	    {"warming", "33"},	 {"returning", "33"},  {"attaching", "33"},
		{"active", "32"},   {"in_pod", "32"},	 {"registered", "32"}, {"ok", "32"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(cell, words[i].word) == 0)
			return words[i].colour;
	return NULL;
}

/* Prints a cell. zeros: the value 0 has the colour of a warning. */
static void print_cell(const char *cell, bool colours, bool zeros, FILE *f)
{
	const char *colour = !colours			       ? NULL
			     : zeros && strcmp(cell, "0") == 0 ? "33"
							       : colour_of(cell);

	if (colour)
		fprintf(f, "\033[%sm", colour);
	table_put(cell, f);
	if (colour)
		fputs("\033[m", f);
}

struct print {
	const struct table_style *style;
	size_t widths[TABLE_COLUMNS_MAX], n_columns;
	size_t shown[TABLE_COLUMNS_MAX], n_shown; /* columns, in order */
	FILE *f;
};

static void choose_columns(struct print *p)
{
	const struct table_style *style = p->style;

	for (size_t i = 0; i < style->n_order; i++)
		p->shown[p->n_shown++] = style->order[i];
	for (size_t i = 0; style->n_order == 0 && i < p->n_columns; i++)
		if (!(style->hidden & 1u << i))
			p->shown[p->n_shown++] = i;
}

static void print_row(const struct print *p, const char *const *cells)
{
	for (size_t k = 0; k < p->n_shown; k++) {
		size_t i = p->shown[k];

		print_cell(cells[i], p->style->colours, p->style->zeros & 1u << i, p->f);
		if (k + 1 < p->n_shown)
			fprintf(p->f, "%*s", (int)(p->widths[i] - width_of(cells[i]) + 2), "");
	}
	fputc('\n', p->f);
}

static void measure(struct print *p, const char *const *cells)
{
	for (size_t i = 0; i < p->n_columns; i++) {
		size_t width = width_of(cells[i]);

		p->widths[i] = width > p->widths[i] ? width : p->widths[i];
	}
}

void table_print(const struct table *t, const struct table_style *style, FILE *f)
{
	static const struct table_style plain;
	struct print p = {.style = style ? style : &plain, .n_columns = t->n_columns, .f = f};

	if (t->failed || t->n_rows == 0)
		return;
	choose_columns(&p);
	if (p.style->widths)
		memcpy(p.widths, p.style->widths, sizeof(p.widths));
	if (!p.style->no_heads)
		measure(&p, t->heads);
	for (size_t i = 0; i < t->n_rows; i++)
		measure(&p, (const char *const *)t->rows[i].cells);
	if (!p.style->no_heads)
		print_row(&p, t->heads);
	for (size_t i = 0; i < t->n_rows; i++)
		print_row(&p, (const char *const *)t->rows[i].cells);
	if (p.style->widths)
		memcpy(p.style->widths, p.widths, sizeof(p.widths));
}

void table_done(struct table *t)
{
	for (size_t i = 0; i < t->n_rows; i++)
		row_done(&t->rows[i]);
	for (size_t i = 0; i < t->n_kept; i++)
		free(t->kept[i]);
	t->n_kept = 0;
	free(t->rows);
	t->rows = NULL;
	t->n_rows = t->n_cells = 0;
}
