/* web_page.c - web_document.h, which document.py makes, holds the bytes; this file knows what to do
 * with them. */
#include "web_page.h"

#include <stdlib.h>
#include <zlib.h>

#include "web_document.h"

#define GZIP_WINDOW (15 + 16) /* zlib.h: 16 more for a gzip member */

const struct web_page web_page = {web_packed, sizeof(web_packed), WEB_LEN, WEB_POLICY};

/* Another rocelet of this address may have another page. */
#define HEADERS                                                                                    \
	"Content-Security-Policy", WEB_POLICY, "X-Content-Type-Options", "nosniff",                \
		"Referrer-Policy", "no-referrer", "Cache-Control", "no-cache", "Vary",             \
		"Accept-Encoding"

const char *const web_page_headers[] = {HEADERS, NULL};
const char *const web_page_packed_headers[] = {HEADERS, "Content-Encoding", "gzip", NULL};

static int unpack(z_stream *z)
{
	int r = inflateInit2(z, GZIP_WINDOW);

	if (r != Z_OK)
		return r;
	r = inflate(z, Z_FINISH);
	inflateEnd(z);
	return r;
}

char *web_page_unpack(void)
{
	char *text = malloc(web_page.len);
	z_stream z = {.next_in = (Bytef *)web_page.packed,
		      .avail_in = (uInt)web_page.packed_len,
		      .next_out = (Bytef *)text,
		      .avail_out = (uInt)web_page.len};

	if (text && unpack(&z) == Z_STREAM_END)
		return text;
	free(text);
	return NULL;
}
