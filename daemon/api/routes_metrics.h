/* SPDX-License-Identifier: Apache-2.0 */
/* routes_metrics.h - GET /metrics.
 *
 * The page of a thousand devices needs megabytes, so samples are rendered only while clients
 * request pages. The first request after a pause waits for the next sample. */
#pragma once

#include "http.h"

struct page;
struct routes;

/* An http_handler for routes.c. */
void routes_metrics(struct routes *, const struct http_request *, struct http_reply *);
/* To be called after each sample. page: rendered from it, serves requests from now on; NULL: not
 * rendered, the last page is dropped. */
void routes_use_page(struct routes *, struct page *);
/* Answers with an error the requests that still wait for a page. */
void routes_metrics_done(struct routes *);
