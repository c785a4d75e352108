/* SPDX-License-Identifier: Apache-2.0 */
/* label.h - label values for Prometheus and OpenMetrics: escaped, valid UTF-8. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "utf8.h"

/* Escaping turns one byte into at most this many. */
#define LABEL_GROWTH 2

/* Writes the escaped value, terminated, to size > 0 bytes at dst; a byte that is not UTF-8 becomes
 * '?'. Returns false if it was truncated. */
static inline bool label_escape(char *dst, size_t size, const char *value)
{
	size_t n = 0;

	while (*value) {
		bool escape = *value == '\\' || *value == '"' || *value == '\n';
		size_t len = utf8_char(value), out = escape ? 2 : len ? len : 1;

		if (n + out >= size)
			break;
		if (escape) {
			dst[n] = '\\';
			dst[n + 1] = *value == '\n' ? 'n' : *value;
		} else if (len) {
			memcpy(dst + n, value, len);
		} else {
			dst[n] = '?';
		}
		n += out;
		value += len ? len : 1;
	}
	dst[n] = '\0';
	return !*value;
}
