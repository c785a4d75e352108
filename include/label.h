/* label.h - a label value as Prometheus and OpenMetrics want it: escaped, and valid UTF-8. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Bytes of the well-formed UTF-8 character at s (RFC 3629), 0 when there is none. */
static inline size_t utf8_char(const char *str)
{
	const unsigned char *s = (const unsigned char *)str;
	size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

	if (s[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, and what lies above U+10FFFF. */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

/* Most bytes that one byte of a value becomes. */
#define LABEL_GROWTH 2

/* Writes the value, terminated, to size > 0 bytes at dst; a byte that is not UTF-8 becomes '?'.
 * Returns false when it was cut short. */
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
