/* web_page.h - the documents for browsers: the page at "/", one HTML document with everything in
 * it, and the runbook, to which verdicts lead. Made of this folder's files, a chart library and
 * docs/runbook.md when rocelet is built (document.py). Pure. */
#pragma once

#include <stddef.h>

struct web_page {
	const unsigned char *packed; /* a gzip member */
	size_t packed_len;
	size_t len;	    /* of what is in it */
	const char *policy; /* Content-Security-Policy: what the document has in it may run, and it
			       may ask where it comes from; nothing else */
	/* What it is sent with, as http_reply.headers: unpacked, and packed. */
	const char *const *headers, *const *packed_headers;
};

extern const struct web_page web_page, web_runbook;

/* The document unpacked, len bytes: heap. NULL: out of memory. */
char *web_page_unpack(const struct web_page *);
