// SPDX-License-Identifier: Apache-2.0
/* gzip.c - gathers the pieces of a page and compresses them with ISA-L into page->gzip.
 *
 * Compression is most of the cost of a scrape, and runs on the loop. ISA-L needs a quarter of the
 * time of zlib's fastest level for the same size. The pieces are gathered first, because ISA-L
 * would move up to a window of old input for each piece. The memory is kept, because new pages from
 * the kernel cost as much as a third of the compression. */
#include "gzip.h"

#include <isa-l/igzip_lib.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

/* Estimated size of the result: a page usually shrinks to a ninth. If the result is larger, the
 * buffer grows. */
#define SHRINKS_TO(bytes) ((bytes) / 8)
#define GROW_BY		  16384
/* The lowest level with dynamic Huffman codes, which pay off for the many digits. */
#define LEVEL		  1
#define LEVEL_BYTES	  ISAL_DEF_LVL1_SMALL

struct gzip {
	struct isal_zstream z;
	uint8_t level[LEVEL_BYTES];
	size_t n; /* bytes gathered in input */
	uint8_t input[32768];
};

/* Allocates the state. Most of it needs no memory until a page is compressed. */
struct gzip *gzip_new(void)
{
	return malloc(sizeof(struct gzip));
}

void gzip_free(struct gzip *g)
{
	free(g);
}

static void begin_member(struct gzip *g)
{
	isal_deflate_init(&g->z);
	g->z.gzip_flag = IGZIP_GZIP;
	g->z.level = LEVEL;
	g->z.level_buf = g->level;
	g->z.level_buf_size = sizeof(g->level);
	g->n = 0;
}

/* Compresses the gathered input; at the end of the stream, finishes the member. */
static bool deflate_input(struct gzip *g, struct text *out)
{
	struct isal_zstream *z = &g->z;

	z->next_in = g->input;
	z->avail_in = (uint32_t)g->n;
	g->n = 0;
	do {
		if (!text_reserve(out, GROW_BY))
			return false;
		z->next_out = (uint8_t *)out->data + out->len;
		z->avail_out = (uint32_t)(out->cap - out->len);
		if (isal_deflate(z) != COMP_OK)
			return false;
		out->len = out->cap - z->avail_out;
	} while (z->avail_in > 0 || (z->end_of_stream && z->internal_state.state != ZSTATE_END));
	return true;
}

static bool gzip_add_piece(struct gzip *g, const struct iovec *piece, struct text *out)
{
	const uint8_t *from = piece->iov_base;
	size_t left = piece->iov_len, n;

	while (left > 0) {
		n = sizeof(g->input) - g->n;
		n = left < n ? left : n;
		memcpy(g->input + g->n, from, n);
		g->n += n;
		from += n;
		left -= n;
		if (g->n == sizeof(g->input) && !deflate_input(g, out))
			return false;
	}
	return true;
}

static bool compress_pieces(struct gzip *g, const struct iovec *iov, size_t n, struct text *out)
{
	begin_member(g);
	for (size_t i = 0; i < n; i++)
		if (!gzip_add_piece(g, &iov[i], out))
			return false;
	g->z.end_of_stream = 1;
	return deflate_input(g, out);
}

const struct text *gzip_page(struct gzip *g, struct page *page, enum metrics_format format)
{
	struct text *out = &page->gzip[format];
	AUTO_FREE struct iovec *iov = NULL;
	size_t n, bytes;

	if (out->failed)
		return NULL;
	if (out->len > 0)
		return out;
	n = page_iov(page, format, NULL, &bytes);
	iov = calloc(n + 1, sizeof(*iov));
	if (!iov)
		return NULL;
	n = page_iov(page, format, iov, &bytes);
	if (text_reserve(out, SHRINKS_TO(bytes)) && compress_pieces(g, iov, n, out))
		return out;
	out->failed = true;
	return NULL;
}
