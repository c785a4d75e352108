/* response.h - turns what a handler answered into what libmicrohttpd sends. */
#pragma once

#include <stdbool.h>

#include "http.h"

struct MHD_Response;

/* Takes body and page of the reply. NULL: out of memory, both are freed. */
struct MHD_Response *response_new(struct http_reply *, bool accepts_gzip);
