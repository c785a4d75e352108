/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.h - validates UTF-8 by the table of well-formed byte sequences, RFC 3629 section 4. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Returns the length in bytes of the well-formed character at str (no surrogates, no overlong
 * forms); 0 = not well-formed, or the end. str is terminated. */
static inline size_t utf8_char(const char *str)
{
	const unsigned char *s = (const unsigned char *)str;
	size_t n = s[0] < 0x80	 ? s[0] != '\0'
		   : s[0] < 0xc2 ? 0
		   : s[0] < 0xe0 ? 2
		   : s[0] < 0xf0 ? 3
				 : 4;

	if (s[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++) /* a terminator is not a continuation byte */
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, and values above U+10FFFF. */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

/* True if name fits into size bytes, terminator included, and is UTF-8 without control characters.
 * NULL counts as "". */
static inline bool utf8_is_name(const char *name, size_t size)
{
	size_t used = 0;

	for (size_t n; name && name[used]; used += n) {
		n = utf8_char(name + used);
		if (n == 0 || (unsigned char)name[used] < ' ' || name[used] == 0x7f ||
		    used + n >= size)
			return false;
	}
	return true;
}

/* Copies `from` if utf8_is_name() accepts it, else returns false. */
static inline bool utf8_copy_name(char *to, size_t size, const char *from)
{
	size_t len = from ? strlen(from) : 0;

	if (!utf8_is_name(from, size))
		return false;
	if (len)
		memcpy(to, from, len);
	to[len] = '\0';
	return true;
}
