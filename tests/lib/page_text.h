/* page_text.h - the body that a client would see of a page, put together from its pieces. */
#pragma once

#include "page.h"

/* Heap, zero-terminated; its length goes to *ret_len, which may be NULL. */
char *page_text(const struct page *, enum metrics_format, size_t *ret_len);
