// SPDX-License-Identifier: Apache-2.0
#include "page_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

char *page_text(const struct page *p, enum metrics_format format, size_t *ret_len)
{
	size_t bytes, n = page_iov(p, format, NULL, &bytes), at = 0;
	struct iovec *iov = calloc(n + 1, sizeof(*iov));
	char *s = malloc(bytes + 1);

	assert_true(iov && s);
	assert_true(n <= 2 * p->n_blocks + 1);
	page_iov(p, format, iov, &bytes);
	for (size_t i = 0; i < n; i++) {
		if (iov[i].iov_len)
			memcpy(s + at, iov[i].iov_base, iov[i].iov_len);
		at += iov[i].iov_len;
	}
	assert_int_equal(at, bytes);
	s[at] = '\0';
	free(iov);
	if (ret_len)
		*ret_len = bytes;
	return s;
}
