/* response.h - turns what a handler answered into what libmicrohttpd sends. */
#pragma once

#include "http.h"

struct MHD_Response;
struct gzip;

/* Takes body and page of the reply. gzip: compresses the page; NULL: the client does not take that.
 * NULL: out of memory, both are freed. */
struct MHD_Response *response_new(struct http_reply *, struct gzip *gzip);
