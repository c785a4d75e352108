/* web_page.h - the page at "/": one HTML document with everything in it, made of this folder's
 * files and a chart library when rocelet is built (document.py). Pure. */
#pragma once

#include <stddef.h>

struct web_page {
	const unsigned char *packed; /* a gzip member */
	size_t packed_len;
	size_t len;	    /* of what is in it */
	const char *policy; /* Content-Security-Policy: what the document has in it may run, and it
			       may ask where it comes from; nothing else */
};

extern const struct web_page web_page;

/* What it is sent with, as http_reply.headers: unpacked, and packed. */
extern const char *const web_page_headers[], *const web_page_packed_headers[];

/* The document unpacked, web_page.len bytes: heap. NULL: out of memory. */
char *web_page_unpack(void);
