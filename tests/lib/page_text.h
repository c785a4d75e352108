/* SPDX-License-Identifier: Apache-2.0 */
/* page_text.h - assembles the body that a client would receive of a metrics page. */
#pragma once

#include "page.h"

/* Heap, terminated; ret_len may be NULL. */
char *page_text(const struct page *, enum metrics_format, size_t *ret_len);
