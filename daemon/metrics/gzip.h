/* SPDX-License-Identifier: Apache-2.0 */
/* gzip.h - compresses a metrics page, once per page and format. */
#pragma once

#include "page.h"

/* Compression state: 200 kB, allocated by the first page. One page at a time. */
struct gzip;

struct gzip *gzip_new(void);   /* NULL only when out of memory */
void gzip_free(struct gzip *); /* may be NULL */

/* Returns the page's body in this format as a gzip member, stored in page->gzip and freed with the
 * page. NULL: out of memory, serve it uncompressed. */
const struct text *gzip_page(struct gzip *, struct page *, enum metrics_format);
