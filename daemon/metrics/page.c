#include "page.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Length of the name without the suffix that only the samples of this type carry. */
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

/* Prometheus text knows no info type. */
static const char *type_word(const char *type, enum metrics_format format)
{
	return format == METRICS_PROMETHEUS && !strcmp(type, "info") ? "gauge" : type;
}

/* OpenMetrics escapes the quotation mark in help texts, Prometheus text must not. */
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
		p->heads.failed = true; /* or the samples to come would join the family before */
		return -ENOMEM;
	}
	b->start = p->text.len;
	for (int f = 0; f < N_METRICS_FORMATS; f++)
		page_add_head(p, b, f, name, type, help);
	return p->heads.failed ? -ENOMEM : 0;
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
		page_add_piece(iov, &n, &bytes, p->text.data + b->start, b->len);
	}
	if (format == METRICS_OPENMETRICS)
		page_add_piece(iov, &n, &bytes, "# EOF\n", 6);
	*ret_bytes = bytes;
	return n;
}
