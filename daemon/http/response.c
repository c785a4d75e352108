// SPDX-License-Identifier: Apache-2.0
/* response.c - creates responses: heap bodies are owned by libmicrohttpd, compressed pages are sent
 * without a copy, and the pieces of a plain page are copied block by block.
 *
 * MHD_create_response_from_iovec() is not used: libmicrohttpd copies the list into the memory of
 * the request's headers, and when that memory is full, version 0.9.75 unlocks a mutex that it has
 * not locked, and aborts the process when it destroys the mutex. A client could trigger that with
 * long headers.
 *
 * A response holds a reference to its page until it is sent or its connection is closed, which
 * libmicrohttpd reports on the loop's thread. */
#include <microhttpd.h>
#include <stdlib.h>

#include "cleanup.h"
#include "gzip.h"
#include "server.h"

/* Memory of a response in transit, about the size of a socket buffer. */
#define BLOCK_SIZE 65536

/* A page as a list of pieces. */
struct page_reader {
	struct page *page;
	size_t bytes, n; /* of the body; number of pieces */
	struct iovec iov[];
};

/* Creates a reader, which takes over the reference. NULL: out of memory. */
static struct page_reader *page_reader_new(struct page *page, enum metrics_format format)
{
	size_t bytes, n = page_iov(page, format, NULL, &bytes);
	struct page_reader *r = calloc(1, sizeof(*r) + n * sizeof(r->iov[0]));

	if (!r)
		return NULL;
	r->page = page;
	r->n = page_iov(page, format, r->iov, &r->bytes);
	return r;
}

static void page_reader_free(void *reader)
{
	struct page_reader *r = reader;

	page_unref(r->page);
	free(r);
}

/* MHD_ContentReaderCallback: fills buf with the body from offset `pos` on. */
static ssize_t page_reader_read(void *reader, uint64_t pos, char *buf, size_t max)
{
	struct page_reader *r = reader;
	size_t filled = 0, len;

	for (const struct iovec *piece = r->iov; piece < r->iov + r->n && filled < max; piece++) {
		if (pos >= piece->iov_len) {
			pos -= piece->iov_len;
			continue;
		}
		len = piece->iov_len - (size_t)pos;
		len = len < max - filled ? len : max - filled;
		memcpy(buf + filled, (const char *)piece->iov_base + pos, len);
		filled += len;
		pos = 0;
	}
	return filled ? (ssize_t)filled : MHD_CONTENT_READER_END_OF_STREAM;
}

static struct MHD_Response *from_pieces(struct page *page, enum metrics_format format)
{
	struct page_reader *reader = page_reader_new(page, format);
	struct MHD_Response *r;

	if (!reader)
		return NULL;
	r = MHD_create_response_from_callback(reader->bytes, BLOCK_SIZE, page_reader_read, reader,
					      page_reader_free);
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

/* Creates the response of a page. Takes over the reference. */
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

static struct MHD_Response *from_fixed(const void *bytes, size_t len)
{
	return MHD_create_response_from_buffer(len, (void *)bytes, MHD_RESPMEM_PERSISTENT);
}

/* Creates the response of a heap body, and takes it over. */
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
	else if (reply->fixed)
		r = from_fixed(reply->fixed, reply->body_len);
	else
		r = from_body(take_ptr(reply->body), reply->body_len);
	if (r && type)
		MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	for (const char *const *h = reply->headers; r && h && *h; h += 2)
		MHD_add_response_header(r, h[0], h[1]);
	if (r && reply->etag[0]) {
		MHD_add_response_header(r, MHD_HTTP_HEADER_ETAG, reply->etag);
		MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
	}
	if (r && reply->status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	return r;
}
