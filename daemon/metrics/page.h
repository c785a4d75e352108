/* page.h - a rendered metrics page: one text of samples, cut into families whose headers exist in
 * two spellings. Pure.
 *
 * Prometheus text and OpenMetrics differ only in the headers, so the samples are rendered once and
 * a body is the list of its pieces. Reference counted on the loop's thread: the server may still be
 * sending the last page while the next one is published. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

enum metrics_format { METRICS_PROMETHEUS, METRICS_OPENMETRICS, N_METRICS_FORMATS };

/* A growing text buffer. Zero-initialised it is empty. */
struct text {
	char *data;
	size_t len, cap;
	bool failed; /* ran out of memory once: the content is not to be used */
};

void text_done(struct text *);
/* Makes room for n more bytes; NULL and `failed` when out of memory. The caller advances len
 * itself. */
char *text_reserve(struct text *, size_t n);
void text_add(struct text *, const char *s, size_t n);
__attribute__((format(printf, 2, 3))) void text_addf(struct text *, const char *fmt, ...);

struct family_block {
	/* "# HELP ...\n# TYPE ...\n" as each format wants it: slices of page.heads */
	size_t head_start[N_METRICS_FORMATS], head_len[N_METRICS_FORMATS];
	size_t start, len; /* the family's samples: a slice of page.text */
};

struct page {
	struct text text, heads;
	struct family_block *blocks;
	size_t n_blocks, cap_blocks;
	unsigned refs;
	/* Filled on first demand by whoever serves the page; freed with it. */
	struct text gzip[N_METRICS_FORMATS];
};

/* One reference; NULL when out of memory. */
struct page *page_new(void);
struct page *page_ref(struct page *);
void page_unref(struct page *); /* NULL is fine */

/* Opens a family; what is then added to page->text are its samples. `name` ends in _total for
 * counters and in _info for info series; type: "counter", "gauge", "info", "summary",
 * "histogram". Closing a
 * family without samples drops it whole. */
int page_begin(struct page *, const char *name, const char *type, const char *help);
void page_end(struct page *);

/* The body in this format, "# EOF" included where the format wants it. Returns the number of pieces
 * (at most 2 * n_blocks + 1) and, in *ret_bytes, their sum. iov may be NULL to ask for both. */
size_t page_iov(const struct page *, enum metrics_format, struct iovec *iov, size_t *ret_bytes);
