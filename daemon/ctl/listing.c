// SPDX-License-Identifier: Apache-2.0
#include "listing.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cleanup.h"
#include "ctl_age.h"
#include "ctl_document.h"
#include "ctl_table.h"
#include "suggest.h"

/* --- paths ------------------------------------------------------------------------------------ */

typedef void each_fn(const char *text, void *arg);

static void listing_each_text(const json_t *value, each_fn *each, void *arg)
{
	char number[32];

	if (json_is_integer(value))
		snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT,
			 json_integer_value(value));
	else if (json_is_real(value))
		snprintf(number, sizeof(number), "%.4g", json_real_value(value));
	else if (json_is_boolean(value))
		snprintf(number, sizeof(number), "%s", json_is_true(value) ? "yes" : "no");
	else if (!json_is_string(value))
		return;
	each(json_is_string(value) ? json_string_value(value) : number, arg);
}

/* Calls `each` for every value at the path, which has len bytes. */
static void listing_walk_path(const json_t *value, const char *path, size_t len, each_fn *each,
			      void *arg)
{
	const char *dot = memchr(path, '.', len);
	size_t n = dot ? (size_t)(dot - path) : len, i;
	char key[64];
	json_t *item;

	if (json_is_array(value)) {
		json_array_foreach ((json_t *)value, i, item) {
			listing_walk_path(item, path, len, each, arg);
		}
	} else if (len == 0) {
		listing_each_text(value, each, arg);
	} else {
		snprintf(key, sizeof(key), "%.*s", (int)n, path);
		listing_walk_path(json_object_get(value, key), dot ? dot + 1 : path + len,
				  dot ? len - n - 1 : 0, each, arg);
	}
}

static void listing_add_text(const char *text, void *f)
{
	fprintf(f, "%s%s", ftell(f) > 0 ? "," : "", text);
}

char *listing_text(const json_t *value, const char *path)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	do {
		size_t n = strcspn(path, "|");

		listing_walk_path(value, path, n, listing_add_text, f);
		path += n + (path[n] == '|');
	} while (ftell(f) <= 0 && *path);
	fclose(f);
	if (len > 0)
		return text;
	free(text);
	return NULL;
}

struct search {
	const char *text;
	bool found;
};

static void compare_text(const char *text, void *arg)
{
	struct search *s = arg;

	s->found |= strcmp(text, s->text) == 0;
}

bool listing_has(const json_t *value, const char *path, const char *text)
{
	struct search s = {.text = text};

	for (; *path && !s.found; path += strspn(path, "|")) {
		size_t n = strcspn(path, "|");

		listing_walk_path(value, path, n, compare_text, &s);
		path += n;
	}
	return s.found;
}

bool listing_has_pod(const json_t *value, const char *namespace_path, const char *pod_path,
		     const char *pod)
{
	const char *slash = strchr(pod, '/');
	char namespace[256];

	if (!slash)
		return listing_has(value, pod_path, pod);
	snprintf(namespace, sizeof(namespace), "%.*s", (int)(slash - pod), pod);
	return listing_has(value, namespace_path, namespace) &&
	       listing_has(value, pod_path, slash + 1);
}

/* --- columns ---------------------------------------------------------------------------------- */

/* Finds a column by its heading, ignoring case. -1: no such column. */
static int find_column(const struct listing *l, const char *name, size_t len)
{
	for (size_t i = 0; i < l->n_columns; i++)
		if (strlen(l->columns[i].head) == len &&
		    strncasecmp(l->columns[i].head, name, len) == 0)
			return (int)i;
	return -1;
}

static int no_column(const struct listing *l, const char *name, size_t len, struct err *e)
{
	const char *heads[TABLE_COLUMNS_MAX], *near;
	char upper[64];
	size_t i = 0;

	for (; i < len && i < sizeof(upper) - 1; i++)
		upper[i] = name[i] >= 'a' && name[i] <= 'z' ? (char)(name[i] - 'a' + 'A') : name[i];
	upper[i] = '\0';
	for (i = 0; i < l->n_columns; i++)
		heads[i] = l->columns[i].head;
	near = suggest(upper, strlen(upper), heads, l->n_columns);
	return err_set(e, -EINVAL,
		       near ? "unknown column %s; did you mean %s?"
			    : "unknown column %s; -o wide shows all columns",
		       upper, near);
}

/* One requirement of a selector: COLUMN=TEXT, COLUMN==TEXT, COLUMN!=TEXT. */
struct requirement {
	int column;
	bool differs;
	const char *text;
	size_t len;
};

/* 1: sets *ret to the next requirement and advances *selector; 0: no more; -EINVAL. */
static int next_requirement(const struct listing *l, const char **selector, struct requirement *ret,
			    struct err *e)
{
	const char *s = *selector;
	size_t len = strcspn(s, ","), name = strcspn(s, "=!,");
	size_t sign = s[name] == '!' || (s[name] == '=' && s[name + 1] == '=') ? 2 : 1;

	if (len == 0 && *s == '\0')
		return 0;
	if (name + sign > len || s[name + sign - 1] != '=')
		return err_set(e, -EINVAL, "%.60s: not COLUMN=TEXT or COLUMN!=TEXT", s);
	*ret = (struct requirement){find_column(l, s, name), s[name] == '!', s + name + sign,
				    len - name - sign};
	*selector += len + (s[len] == ',');
	return ret->column >= 0 ? 1 : no_column(l, s, name, e);
}

/* Parses the next of "HEAD,HEAD,HEAD:PATH" and advances *columns. *ret: its column, -1 if it has a
 * path. False: no more. */
static bool next_column(const struct listing *l, const char **columns, const char **ret_text,
			size_t *ret_len, int *ret)
{
	size_t len = strcspn(*columns, ",");

	if (**columns == '\0')
		return false;
	*ret_text = *columns;
	*ret_len = len;
	*ret = memchr(*columns, ':', len) ? -1 : find_column(l, *columns, len);
	*columns += len + ((*columns)[len] == ',');
	return true;
}

/* Checks --columns. The table has the listing's own columns, then the row's name, then columns with
 * a path; all must fit. */
static int check_columns(const struct listing *l, const char *columns, struct err *e)
{
	const char *text;
	size_t len, n = 0, n_paths = 0;
	int column;

	while (next_column(l, &columns, &text, &len, &column)) {
		const char *colon = memchr(text, ':', len);

		if (colon == text || (colon && colon + 1 == text + len))
			return err_set(e, -EINVAL, "--columns %.60s: not HEAD:PATH", text);
		if (!colon && column < 0)
			return no_column(l, text, len, e);
		n_paths += colon != NULL;
		n++;
	}
	if (n == 0)
		return err_set(e, -EINVAL, "--columns: no column given");
	return n > TABLE_COLUMNS_MAX || l->n_columns + 1 + n_paths > TABLE_COLUMNS_MAX
		       ? err_set(e, -EINVAL, "--columns: too many")
		       : 0;
}

int listing_check(const struct listing *l, const char *sort_by, const char *selector,
		  const char *columns, struct err *e)
{
	struct requirement requirement;
	int r = 1;

	if (sort_by) {
		sort_by += sort_by[0] == '-';
		if (find_column(l, sort_by, strlen(sort_by)) < 0)
			return no_column(l, sort_by, strlen(sort_by), e);
	}
	while (selector && r == 1)
		r = next_requirement(l, &selector, &requirement, e);
	if (r >= 0 && columns)
		r = check_columns(l, columns, e);
	return r < 0 ? r : 0;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* Length of the cell's value, without a remark: 8 of "critical (PF)". */
static size_t listing_value_len(const struct listing_column *column, const char *cell, size_t len)
{
	const char *space = column->remark ? memchr(cell, ' ', len) : NULL;

	return space ? (size_t)(space - cell) : len;
}

/* True if the cell has this value. An empty text is shown as "-". */
static bool listing_is_value(const struct listing_column *column, const char *cell, size_t cell_len,
			     const char *text, size_t len)
{
	if (len == 0)
		return cell_len == 1 && cell[0] == '-';
	return (cell_len == len || listing_value_len(column, cell, cell_len) == len) &&
	       memcmp(cell, text, len) == 0;
}

/* "llm-0" and "train/llm-0" both select the cell "train/llm-0" of a column of pods; "drift" and
 * "pci" both select "drift,pci". */
static bool listing_is_selected(const struct listing_column *column, const char *cell,
				const struct requirement *r)
{
	const char *slash = column->after_slash ? strchr(cell, '/') : NULL;
	bool found = slash &&
		     listing_is_value(column, slash + 1, strlen(slash + 1), r->text, r->len);

	for (size_t len; !found && *cell; cell += len + (cell[len] == ',')) {
		len = strcspn(cell, ",");
		found = listing_is_value(column, cell, len, r->text, r->len);
	}
	return found;
}

static bool listing_fits(const struct listing *l, const char *selector, const struct table_row *row)
{
	struct requirement r;

	while (selector && next_requirement(l, &selector, &r, NULL) == 1)
		if (listing_is_selected(&l->columns[r.column], row->cells[r.column], &r) ==
		    r.differs)
			return false;
	return true;
}

/* "mlx5_0/1" selects rows of mlx5_0; among rows of ports, only port 1. */
static bool listing_has_device(const struct listing *l, const json_t *row, const char *device)
{
	const json_t *port = json_object_get(row, "port");
	const char *slash = strchr(device, '/');
	char base[128];

	if (listing_has(row, l->device, device))
		return true;
	if (!slash || (size_t)(slash - device) >= sizeof(base))
		return false;
	snprintf(base, sizeof(base), "%.*s", (int)(slash - device), device);
	return listing_has(row, l->device, base) &&
	       (!json_is_integer(port) || json_integer_value(port) == atoll(slash + 1));
}

/* True if the row matches --namespace, --device and --pod; c->pod may be NAMESPACE/NAME. */
static bool listing_is_of(const struct listing *l, const struct listing_choice *c,
			  const json_t *row)
{
	if (c->namespace && l->namespace && !listing_has(row, l->namespace, c->namespace))
		return false;
	if (c->device && l->device && !listing_has_device(l, row, c->device))
		return false;
	return !c->pod || !l->pod || listing_has_pod(row, l->namespace, l->pod, c->pod);
}

/* The age of the time at a path; heap. NULL = unknown. */
static char *age_at(const json_t *row, const char *path, int64_t now_s)
{
	AUTO_FREE char *time = listing_text(row, path);
	int64_t then = ctl_age_parse(time);
	char *age = then >= 0 ? malloc(AGE_TEXT_SIZE) : NULL;

	if (age)
		age_text(now_s - then, age);
	return age;
}

/* The text at a path that ends before `end`; heap. NULL = unknown. */
static char *value_at(const json_t *row, const char *path, const char *end)
{
	char *copy = strndup(path, (size_t)(end - path));
	char *value = copy ? listing_text(row, copy) : NULL;

	free(copy);
	return value;
}

/* Adds the columns that --columns selects by path. */
static void add_paths(struct table *t, const struct listing *l, const char *columns,
		      const json_t *row)
{
	const char *text;
	size_t len;
	int column;

	while (columns && next_column(l, &columns, &text, &len, &column)) {
		const char *colon = memchr(text, ':', len);
		AUTO_FREE char *value = colon ? value_at(row, colon + 1, text + len) : NULL;

		if (colon)
			table_add(t, value);
	}
}

/* Adds the columns, then the row's name, then the columns that --columns selects by path. */
static void listing_add_row(struct table *t, const struct listing *l,
			    const struct listing_choice *c, const json_t *row)
{
	AUTO_FREE char *name = l->name ? l->name(row) : NULL;

	for (size_t i = 0; i < l->n_columns; i++) {
		const struct listing_column *column = &l->columns[i];
		AUTO_FREE char *text = column->make  ? column->make(row)
				       : column->age ? age_at(row, column->age, c->now_s)
						     : listing_text(row, column->path);

		table_add(t, text);
	}
	table_add(t, name);
	add_paths(t, l, c->columns, row);
}

static void add_if(struct table *t, const struct listing *l, const struct listing_choice *c,
		   const json_t *row)
{
	if (!listing_is_of(l, c, row))
		return;
	listing_add_row(t, l, c, row);
	if (!t->failed && l->level)
		t->rows[t->n_rows - 1].level = l->level(row);
	if (!t->failed && !listing_fits(l, c->selector, &t->rows[t->n_rows - 1]))
		table_drop_row(t, t->n_rows - 1);
}

static void add_object(struct table *t, const struct listing *l, const struct listing_choice *c,
		       const json_t *object)
{
	json_t *rows = l->rows_of ? l->rows_of(object) : NULL, *row;
	size_t i;

	if (!l->rows_of)
		add_if(t, l, c, object);
	json_array_foreach (rows, i, row) {
		add_if(t, l, c, row);
	}
	json_decref(rows);
}

static const json_t *objects_of(const struct listing *l, const json_t *document)
{
	return json_object_get(document, l->list);
}

/* Adds copies of the headings of columns with a path; on the command line they end at ':'. Returns
 * their number. */
static size_t head_paths(struct table *t, const struct listing *l, const char *columns)
{
	const char *text;
	size_t len, n = 0;
	int column;

	while (columns && next_column(l, &columns, &text, &len, &column)) {
		const char *colon = memchr(text, ':', len);

		if (colon)
			t->heads[l->n_columns + 1 + n++] = table_keep(t, text,
								      (size_t)(colon - text));
	}
	return n;
}

static bool is_format(const struct listing_choice *c, const char *format)
{
	return c->format && strcmp(c->format, format) == 0;
}

static bool is_table(const struct listing_choice *c)
{
	return !c->format || is_format(c, "table") || is_format(c, "wide");
}

/* Fills an empty table with the selected rows, sorted; the caller frees it with table_done(). */
static void choose_rows(struct table *t, const struct listing *l, const struct listing_choice *c,
			const json_t *document)
{
	const char *sort_by = c->sort_by;
	json_t *object;

	t->n_columns = l->n_columns + 1;
	for (size_t i = 0; i < l->n_columns; i++)
		t->heads[i] = l->columns[i].head;
	t->heads[l->n_columns] = "";
	t->n_columns += head_paths(t, l, c->columns);
	json_array_foreach ((json_t *)objects_of(l, document), t->object, object) {
		add_object(t, l, c, object);
	}
	while (c->limit >= 0 && t->n_rows > (size_t)c->limit)
		table_drop_row(t, l->newest_last ? 0 : t->n_rows - 1);
	if (!sort_by && l->level && is_table(c))
		table_sort_worst(t);
	if (!sort_by)
		return;
	table_sort(t,
		   (size_t)find_column(l, sort_by + (sort_by[0] == '-'),
				       strlen(sort_by) - (sort_by[0] == '-')),
		   sort_by[0] == '-');
}

/* --- rows that the previous call has shown ---------------------------------------------------- */

struct listing_seen {
	json_t *rows; /* rows of the previous call: an object with a key for each */
	size_t widths[TABLE_COLUMNS_MAX];
	bool was_shown, has_heads;
};

struct listing_seen *listing_seen_new(void)
{
	struct listing_seen *seen = calloc(1, sizeof(*seen));

	if (seen)
		seen->rows = json_object();
	return seen;
}

void listing_seen_free(struct listing_seen *seen)
{
	if (seen)
		json_decref(seen->rows);
	free(seen);
}

/* All cells of a row except ages, which always change; heap. */
static char *row_text(const struct listing *l, const struct table *t, size_t row)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	for (size_t i = 0; f && i < t->n_columns; i++)
		if (i >= l->n_columns || !l->columns[i].age)
			fprintf(f, "%s\t", t->rows[row].cells[i]);
	if (f)
		fclose(f);
	return text;
}

/* Drops rows that the previous call has shown. -ENOMEM. */
static int drop_seen(struct table *t, const struct listing *l, struct listing_seen *seen)
{
	json_t *rows = json_object();
	int r = rows ? 0 : -ENOMEM;

	for (size_t i = t->n_rows; r == 0 && i-- > 0;) {
		AUTO_FREE char *text = row_text(l, t, i);

		if (!text || json_object_set_new_nocheck(rows, text, json_true()) < 0)
			r = -ENOMEM;
		else if (json_object_get(seen->rows, text))
			table_drop_row(t, i);
	}
	json_decref(seen->rows);
	seen->rows = rows;
	return r;
}

/* --- formats ---------------------------------------------------------------------------------- */

/* The columns that --columns selects, in its order. */
static void order_columns(struct table_style *style, const struct listing *l, const char *columns)
{
	size_t len, n_paths = 0;
	const char *text;
	int column;

	while (columns && next_column(l, &columns, &text, &len, &column) &&
	       style->n_order < TABLE_COLUMNS_MAX)
		style->order[style->n_order++] = (unsigned char)(column >= 0 ? (size_t)column
									     : l->n_columns + 1 +
										       n_paths++);
}

/* Prints why there are no rows. In a document an empty list is its own explanation, unless it is
 * unknown whether the node has any. */
static void listing_explain_empty(const struct listing *l, const struct listing_choice *c,
				  const json_t *document, FILE *err)
{
	size_t n = json_array_size(objects_of(l, document));
	bool chosen = c->namespace || c->pod || c->device || c->selector || c->limit == 0;
	AUTO_FREE char *unknown = l->unknown ? l->unknown(document) : NULL;
	bool is_document = is_format(c, "json") || is_format(c, "yaml");

	if (is_document && !unknown)
		return;
	if (n == 0 && unknown) {
		table_put(unknown, err);
		fputc('\n', err);
	} else if (n > 0) {
		fprintf(err, "no %s match (%zu on this node)\n", l->noun, n);
	} else if (chosen) {
		fprintf(err, "no %s match\n", l->noun);
	} else {
		fprintf(err, "%s\n", l->nothing);
	}
}

static void listing_show_table(const struct listing *l, const struct listing_choice *c,
			       const struct table *t, const json_t *document, FILE *f)
{
	struct listing_seen *seen = c->seen;
	struct table_style style = {.no_heads = c->no_headers || (seen && seen->has_heads),
				    .colours = c->colours,
				    .hidden = 1u << l->n_columns,
				    .widths = seen ? seen->widths : NULL};

	for (size_t i = 0; i < l->n_columns; i++) {
		if (l->columns[i].wide && !is_format(c, "wide"))
			style.hidden |= 1u << i;
		style.zeros |= l->columns[i].zeros ? 1u << i : 0;
	}
	order_columns(&style, l, c->columns);
	table_print(t, &style, f);
	if (seen)
		seen->has_heads |= t->n_rows > 0;
	else if (l->notes)
		l->notes(document, json_array_size(objects_of(l, document)), f);
}

/* Prints each name once; equal ones are adjacent. */
static void show_names(const struct listing *l, const struct table *t, FILE *f)
{
	for (size_t i = 0; i < t->n_rows; i++) {
		const char *name = t->rows[i].cells[l->n_columns];

		if (i > 0 && strcmp(name, t->rows[i - 1].cells[l->n_columns]) == 0)
			continue;
		table_put(name, f);
		fputc('\n', f);
	}
}

static bool has_row_before(const struct table *t, size_t row)
{
	for (size_t i = row; i-- > 0;)
		if (t->rows[i].object == t->rows[row].object)
			return true;
	return false;
}

/* A copy of the document with only the objects of the rows, in their order. A document without the
 * list is returned unchanged. */
static json_t *listing_document_of(const struct listing *l, const struct table *t,
				   const json_t *document)
{
	json_t *whole = json_copy((json_t *)document), *chosen;

	if (!json_is_array(objects_of(l, document)))
		return whole;
	chosen = json_array();
	for (size_t i = 0; chosen && i < t->n_rows; i++)
		if (!l->rows_of || !has_row_before(t, i))
			json_array_append(
				chosen, json_array_get(objects_of(l, document), t->rows[i].object));
	if (l->other)
		json_object_del(whole, l->other);
	if (json_object_set_new(whole, l->list, chosen) == 0)
		return whole;
	json_decref(whole);
	return NULL;
}

static int show_lines(const json_t *objects, FILE *f)
{
	json_t *object;
	size_t i;
	int r = 0;

	json_array_foreach ((json_t *)objects, i, object) {
		r = ctl_document_line(object, f);
		if (r < 0)
			break;
	}
	return r;
}

static int show_document(const struct listing *l, const struct listing_choice *c,
			 const struct table *t, const json_t *document, FILE *f)
{
	json_auto_t *whole = listing_document_of(l, t, document);
	int r = whole ? 0 : -ENOMEM;

	if (whole && c->seen)
		r = show_lines(objects_of(l, whole), f);
	else if (whole)
		r = ctl_document_put(whole, c->format, f);
	return r;
}

int listing_show(const struct listing *l, const struct listing_choice *c, const json_t *document,
		 FILE *f, FILE *err)
{
	struct table t = {0};
	int r = 0;

	choose_rows(&t, l, c, document);
	if (c->seen && !t.failed)
		t.failed = drop_seen(&t, l, c->seen) < 0;
	if (t.failed)
		r = -ENOMEM;
	else if (is_format(c, "json") || is_format(c, "yaml"))
		r = show_document(l, c, &t, document, f);
	else if (is_format(c, "name"))
		show_names(l, &t, f);
	else
		listing_show_table(l, c, &t, document, f);
	if (r == 0 && t.n_rows == 0 && (!c->seen || !c->seen->was_shown))
		listing_explain_empty(l, c, document, err);
	if (c->seen)
		c->seen->was_shown = true;
	if (c->ret_empty)
		*c->ret_empty = t.n_rows == 0;
	table_done(&t);
	return r;
}
