/* SPDX-License-Identifier: Apache-2.0 */
/* page.h - a rendered metrics page: one text of samples, divided into families whose headers exist
 * in two formats. Pure.
 *
 * Prometheus text and OpenMetrics differ only in the headers, so the samples are rendered once, and
 * a body is a list of pieces. Counters whose start is known are the exception: OpenMetrics has
 * other samples for them, with `_created`. A page is reference counted on the loop's thread: the
 * server may still be sending the last page when the next one is published. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

enum metrics_format { METRICS_PROMETHEUS, METRICS_OPENMETRICS, N_METRICS_FORMATS };

/* A growing text buffer. Zero-initialised it is empty. */
struct text {
	char *data;
	size_t len, cap;
	bool failed; /* ran out of memory: the content must not be used */
};

void text_done(struct text *);
/* Makes room for n more bytes; NULL and `failed` when out of memory. The caller increases len. */
char *text_reserve(struct text *, size_t n);
void text_add(struct text *, const char *s, size_t n);
__attribute__((format(printf, 2, 3))) void text_addf(struct text *, const char *fmt, ...);

struct family_block {
	/* "# HELP ...\n# TYPE ...\n" in each format: slices of page.heads */
	size_t head_start[N_METRICS_FORMATS], head_len[N_METRICS_FORMATS];
	size_t start, len; /* the family's samples: a slice of page.text */
	/* The family's samples for OpenMetrics, if it has other ones with `_created`: a slice of
	 * page.heads; len 0: none */
	size_t created_start, created_len;
	bool counter;
};

struct page {
	struct text text, heads;
	struct family_block *blocks;
	size_t n_blocks, cap_blocks;
	unsigned refs;
	/* Start time of the counters that are added now, since the Unix epoch; 0 = unknown. */
	uint64_t created_unix_ms;
	/* Filled when first needed by the server; freed with the page. */
	struct text gzip[N_METRICS_FORMATS];
};

/* Creates a page with one reference; NULL when out of memory. */
struct page *page_new(void);
struct page *page_ref(struct page *);
void page_unref(struct page *); /* may be NULL */

/* Opens a family; text then added to page->text is its samples. `name` ends in _total for counters
 * and in _info for info series; type: "counter", "gauge", "info", "summary", "histogram". Closing a
 * family without samples removes it. */
int page_begin(struct page *, const char *name, const char *type, const char *help);
void page_end(struct page *);

/* Lists the pieces of the body in this format, including "# EOF" if the format requires it. Returns
 * the number of pieces (at most 2 * n_blocks + 1), and their size in *ret_bytes. iov may be NULL to
 * get only these. */
size_t page_iov(const struct page *, enum metrics_format, struct iovec *iov, size_t *ret_bytes);
