// SPDX-License-Identifier: Apache-2.0
#include "page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

/* --- text ------------------------------------------------------------------------------------- */

void text_done(struct text *t)
{
	free(t->data);
	*t = (struct text){0};
}

char *text_reserve(struct text *t, size_t n)
{
	size_t cap = t->cap ? t->cap : 4096;
	char *data;

	if (n > SIZE_MAX / 4 || t->len > SIZE_MAX / 4)
		goto failed;
	while (cap - t->len < n)
		cap *= 2;
	if (cap != t->cap) {
		data = realloc(t->data, cap);
		if (!data)
			goto failed;
		t->data = data;
		t->cap = cap;
	}
	return t->data + t->len;
failed:
	t->failed = true;
	return NULL;
}

void text_add(struct text *t, const char *s, size_t n)
{
	char *p = text_reserve(t, n);

	if (!p || !n)
		return;
	memcpy(p, s, n);
	t->len += n;
}

void text_addf(struct text *t, const char *fmt, ...)
{
	va_list ap, again;
	char *p;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	p = n < 0 ? NULL : text_reserve(t, (size_t)n + 1);
	if (p) {
		vsnprintf(p, (size_t)n + 1, fmt, again);
		t->len += (size_t)n;
	} else {
		t->failed = true;
	}
	va_end(again);
}

/* --- page ------------------------------------------------------------------------------------- */

struct page *page_new(void)
{
	struct page *p = calloc(1, sizeof(*p));

	if (p)
		p->refs = 1;
	return p;
}

struct page *page_ref(struct page *p)
{
	p->refs++;
	return p;
}

void page_unref(struct page *p)
{
	if (!p || --p->refs)
		return;
	text_done(&p->text);
	text_done(&p->heads);
	for (int i = 0; i < N_METRICS_FORMATS; i++)
		text_done(&p->gzip[i]);
	free(p->blocks);
	free(p);
}

/* Returns the length of the name without the suffix that only samples of this type have. */
static size_t stem(const char *name, const char *type, enum metrics_format format)
{
	const char *suffix = !strcmp(type, "counter") ? "_total"
			     : !strcmp(type, "info")  ? "_info"
						      : "";
	size_t n = strlen(name), k = strlen(suffix);

	if (format == METRICS_OPENMETRICS && n > k && !strcmp(name + n - k, suffix))
		return n - k;
	return n;
}

/* Returns the unit at the end of a family's name of n bytes; "" = no unit that OpenMetrics knows.
 */
static const char *unit_of(const char *name, size_t n)
{
	static const char *const units[] = {"_seconds", "_bytes", "_ratio", "_bytes_per_second"};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		size_t k = strlen(units[i]);

		if (n > k && strncmp(name + n - k, units[i], k) == 0)
			return units[i] + 1;
	}
	return "";
}

/* Returns the word for the type in this format. Prometheus text has no info type. */
static const char *type_word(const char *type, enum metrics_format format)
{
	return format == METRICS_PROMETHEUS && !strcmp(type, "info") ? "gauge" : type;
}

/* Appends a help text. OpenMetrics requires that quotation marks are escaped, Prometheus text that
 * they are not. */
static void add_help(struct text *t, const char *help, enum metrics_format format)
{
	for (; *help; help++) {
		if (*help == '\n')
			text_add(t, "\\n", 2);
		else if (*help == '\\' || (*help == '"' && format == METRICS_OPENMETRICS))
			text_addf(t, "\\%c", *help);
		else
			text_add(t, help, 1);
	}
}

static void page_add_head(struct page *p, struct family_block *b, enum metrics_format format,
			  const char *name, const char *type, const char *help)
{
	int n = (int)stem(name, type, format);
	struct text *t = &p->heads;

	b->head_start[format] = t->len;
	text_addf(t, "# HELP %.*s ", n, name);
	add_help(t, help, format);
	text_addf(t, "\n# TYPE %.*s %s\n", n, name, type_word(type, format));
	if (format == METRICS_OPENMETRICS && *unit_of(name, (size_t)n))
		text_addf(t, "# UNIT %.*s %s\n", n, name, unit_of(name, (size_t)n));
	b->head_len[format] = t->len - b->head_start[format];
}

static struct family_block *new_block(struct page *p)
{
	size_t cap = p->cap_blocks ? p->cap_blocks * 2 : 64;
	struct family_block *blocks;

	if (p->n_blocks == p->cap_blocks) {
		blocks = reallocarray(p->blocks, cap, sizeof(*blocks));
		if (!blocks)
			return NULL;
		p->blocks = blocks;
		p->cap_blocks = cap;
	}
	return memset(&p->blocks[p->n_blocks++], 0, sizeof(*p->blocks));
}

int page_begin(struct page *p, const char *name, const char *type, const char *help)
{
	struct family_block *b = new_block(p);

	if (!b) {
		p->heads.failed = true; /* or the next samples would be in the previous family */
		return -ENOMEM;
	}
	b->start = p->text.len;
	b->counter = strcmp(type, "counter") == 0;
	for (int f = 0; f < N_METRICS_FORMATS; f++)
		page_add_head(p, b, f, name, type, help);
	return p->heads.failed ? -ENOMEM : 0;
}

/* Appends a line `name_total{labels} 3\n`, followed by `name_created{labels} time` of the same
 * series. */
static void add_created(struct text *t, const char *line, size_t len, uint64_t unix_ms)
{
	const char *space = memrchr(line, ' ', len);
	size_t series = space ? (size_t)(space - line) : len;
	size_t name = strcspn(line, "{ ");
	size_t stem_len = name - strlen("_total");

	text_add(t, line, len);
	text_add(t, line, stem_len);
	text_addf(t, "_created%.*s %" PRIu64 ".%03" PRIu64 "\n", (int)(series - name), line + name,
		  unix_ms / 1000, unix_ms % 1000);
}

static void add_all_created(struct page *p, struct family_block *b)
{
	const char *at = p->text.data + b->start, *end = at + b->len;

	b->created_start = p->heads.len;
	while (at < end) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));
		size_t len = line_end ? (size_t)(line_end - at) + 1 : (size_t)(end - at);

		add_created(&p->heads, at, len, p->created_unix_ms);
		at += len;
	}
	b->created_len = p->heads.len - b->created_start;
}

void page_end(struct page *p)
{
	struct family_block *b;

	if (!p->n_blocks)
		return;
	b = &p->blocks[p->n_blocks - 1];
	b->len = p->text.len - b->start;
	if (!b->len) {
		p->heads.len = b->head_start[0];
		p->n_blocks--;
	} else if (b->counter && p->created_unix_ms > 0 && !p->text.failed) {
		add_all_created(p, b);
	}
}

static void page_add_piece(struct iovec *iov, size_t *n, size_t *bytes, const char *data,
			   size_t len)
{
	if (iov)
		iov[*n] = (struct iovec){.iov_base = (void *)data, .iov_len = len};
	++*n;
	*bytes += len;
}

size_t page_iov(const struct page *p, enum metrics_format format, struct iovec *iov,
		size_t *ret_bytes)
{
	size_t n = 0, bytes = 0;

	for (size_t i = 0; i < p->n_blocks; i++) {
		const struct family_block *b = &p->blocks[i];

		page_add_piece(iov, &n, &bytes, p->heads.data + b->head_start[format],
			       b->head_len[format]);
		if (format == METRICS_OPENMETRICS && b->created_len > 0)
			page_add_piece(iov, &n, &bytes, p->heads.data + b->created_start,
				       b->created_len);
		else
			page_add_piece(iov, &n, &bytes, p->text.data + b->start, b->len);
	}
	if (format == METRICS_OPENMETRICS)
		page_add_piece(iov, &n, &bytes, "# EOF\n", 6);
	*ret_bytes = bytes;
	return n;
}
