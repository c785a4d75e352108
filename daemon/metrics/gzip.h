/* gzip.h - a metrics page compressed, once per page and format. */
#pragma once

#include "page.h"

/* The body of the page in this format as a gzip member, kept in page->gzip and freed with the page.
 * NULL: out of memory, serve it as it is. */
const struct text *gzip_page(struct page *, enum metrics_format);
