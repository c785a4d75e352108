/* gzip.c - feeds the pieces of a page through zlib into page->gzip.
 *
 * The fastest level: the text repeats itself so much that the better ones hardly gain, and this
 * runs on the loop. */
#include "gzip.h"

#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#include "cleanup.h"

/* Much less than deflateBound(): such a page shrinks to a tenth and less. */
#define GROW_BY	    16384
/* The largest window; adding 16 asks zlib for a gzip header and trailer. */
#define WINDOW_BITS (15 + 16)
#define MEM_LEVEL   8

/* Compresses what z holds as input; with Z_FINISH to the end of the member. */
static bool deflate_into(z_stream *z, int flush, struct text *out)
{
	size_t room;
	int r;

	do {
		if (!text_reserve(out, GROW_BY))
			return false;
		room = out->cap - out->len;
		z->next_out = (Bytef *)out->data + out->len;
		z->avail_out = (uInt)room;
		r = deflate(z, flush);
		out->len += room - z->avail_out;
	} while (r == Z_OK && (z->avail_in > 0 || flush == Z_FINISH));
	return r == (flush == Z_FINISH ? Z_STREAM_END : Z_OK);
}

static bool compress_pieces(const struct iovec *iov, size_t n, struct text *out)
{
	z_stream z = {0};
	bool ok = true;
	size_t i;

	if (deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, WINDOW_BITS, MEM_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	for (i = 0; ok && i < n; i++) {
		z.next_in = iov[i].iov_base;
		z.avail_in = (uInt)iov[i].iov_len;
		ok = iov[i].iov_len == 0 || deflate_into(&z, Z_NO_FLUSH, out);
	}
	ok = ok && deflate_into(&z, Z_FINISH, out);
	deflateEnd(&z);
	return ok;
}

const struct text *gzip_page(struct page *page, enum metrics_format format)
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
	if (compress_pieces(iov, n, out))
		return out;
	out->failed = true;
	return NULL;
}
