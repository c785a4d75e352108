/* gzip.h - a metrics page compressed, once per page and format. */
#pragma once

#include "page.h"

/* What compressing needs: 200 kB, from the first page on. One page at a time. */
struct gzip;

struct gzip *gzip_new(void);   /* NULL only when out of memory */
void gzip_free(struct gzip *); /* NULL is fine */

/* The body of the page in this format as a gzip member, kept in page->gzip and freed with the page.
 * NULL: out of memory, serve it as it is. */
const struct text *gzip_page(struct gzip *, struct page *, enum metrics_format);
