/* response.c - heap bodies are handed over, compressed pages are sent from where they are, and the
 * pieces of a plain page are copied through a window of one block.
 *
 * Not MHD_create_response_from_iovec(): libmicrohttpd copies the list into the memory that the
 * request's headers live in, and when that is full, 0.9.75 unlocks a mutex that it does not hold
 * and aborts the process on destroying it. A client that sends long headers could do that to us.
 *
 * A response holds a reference to its page until it is sent or its connection is gone, which
 * libmicrohttpd reports on the loop's thread. */
#include "response.h"

#include <microhttpd.h>
#include <stdlib.h>

#include "accept.h"
#include "cleanup.h"
#include "gzip.h"

/* Memory of a response on its way; a socket's buffer takes about that much at once. */
#define BLOCK_SIZE 65536

/* Reads a page's body from front to back. */
struct reader {
	struct page *page;
	size_t bytes;	    /* of the body */
	size_t n, current;  /* pieces, and the one that the last read ended in */
	uint64_t piece_pos; /* where that one starts in the body */
	struct iovec iov[];
};

/* NULL: out of memory; otherwise it takes the reference. */
static struct reader *reader_new(struct page *page, enum metrics_format format)
{
	size_t bytes, n = page_iov(page, format, NULL, &bytes);
	struct reader *r = calloc(1, sizeof(*r) + (n + 1) * sizeof(r->iov[0]));

	if (!r)
		return NULL;
	r->page = page;
	r->n = page_iov(page, format, r->iov, &r->bytes);
	return r;
}

static void reader_free(void *reader)
{
	struct reader *r = reader;

	page_unref(r->page);
	free(r);
}

/* Makes the piece that holds byte `pos` the current one; false: there is none. */
static bool reader_seek(struct reader *r, uint64_t pos)
{
	if (pos < r->piece_pos)
		r->current = r->piece_pos = 0;
	while (r->current < r->n && pos - r->piece_pos >= r->iov[r->current].iov_len)
		r->piece_pos += r->iov[r->current++].iov_len;
	return r->current < r->n;
}

/* MHD_ContentReaderCallback: fills buf with what the body has from `pos` on. */
static ssize_t reader_read(void *reader, uint64_t pos, char *buf, size_t max)
{
	struct reader *r = reader;
	size_t filled = 0, skip, len;

	while (filled < max && reader_seek(r, pos + filled)) {
		skip = (size_t)(pos + filled - r->piece_pos);
		len = r->iov[r->current].iov_len - skip;
		len = len < max - filled ? len : max - filled;
		memcpy(buf + filled, (const char *)r->iov[r->current].iov_base + skip, len);
		filled += len;
	}
	return filled ? (ssize_t)filled : MHD_CONTENT_READER_END_OF_STREAM;
}

static struct MHD_Response *from_pieces(struct page *page, enum metrics_format format)
{
	struct reader *reader = reader_new(page, format);
	struct MHD_Response *r;

	if (!reader)
		return NULL;
	r = MHD_create_response_from_callback(reader->bytes, BLOCK_SIZE, reader_read, reader,
					      reader_free);
	if (!r)
		free(reader);
	return r;
}

static void on_page_sent(void *page)
{
	page_unref(page);
}

static struct MHD_Response *from_member(struct page *page, const struct text *member)
{
	struct MHD_Response *r = MHD_create_response_from_buffer_with_free_callback_cls(
		member->len, member->data, on_page_sent, page);

	if (r)
		MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
	return r;
}

/* Takes the reference. */
static struct MHD_Response *from_page(struct page *page, enum metrics_format format,
				      struct gzip *gzip)
{
	const struct text *member = gzip ? gzip_page(gzip, page, format) : NULL;
	struct MHD_Response *r = member ? from_member(page, member) : from_pieces(page, format);

	if (!r) {
		page_unref(page);
		return NULL;
	}
	MHD_add_response_header(r, MHD_HTTP_HEADER_VARY, "Accept-Encoding, Accept");
	return r;
}

/* Takes the body. */
static struct MHD_Response *from_body(char *body, size_t len)
{
	struct MHD_Response *r = MHD_create_response_from_buffer_with_free_callback(len, body,
										    free);

	if (!r)
		free(body);
	return r;
}

struct MHD_Response *response_new(struct http_reply *reply, struct gzip *gzip)
{
	const char *type = reply->content_type;
	struct MHD_Response *r;

	if (reply->page)
		r = from_page(take_ptr(reply->page), (enum metrics_format)reply->page_format, gzip);
	else
		r = from_body(take_ptr(reply->body), reply->body_len);
	if (r && type)
		MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	if (r && reply->status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	return r;
}
