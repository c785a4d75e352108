/* utf8.c - the table of well-formed byte sequences, RFC 3629 section 4. */
#include "utf8.h"

#include <stdlib.h>
#include <string.h>

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

static bool in_range(char c, unsigned char low, unsigned char high)
{
	return (unsigned char)c >= low && (unsigned char)c <= high;
}

/* The second byte's range depends on the first; the rest are plain tails. Stops at a terminator,
 * which is in no range. */
static bool has_tail(const char *s, size_t n, unsigned char low, unsigned char high)
{
	size_t i;

	if (!in_range(s[1], low, high))
		return false;
	for (i = 2; i < n; i++)
		if (!in_range(s[i], 0x80, 0xbf))
			return false;
	return true;
}

size_t utf8_char(const char *s)
{
	unsigned char c = (unsigned char)s[0];

	if (c < 0x80)
		return c != '\0';
	if (c >= 0xc2 && c <= 0xdf)
		return has_tail(s, 2, 0x80, 0xbf) ? 2 : 0;
	if (c >= 0xe0 && c <= 0xef)
		return has_tail(s, 3, c == 0xe0 ? 0xa0 : 0x80, c == 0xed ? 0x9f : 0xbf) ? 3 : 0;
	if (c >= 0xf0 && c <= 0xf4)
		return has_tail(s, 4, c == 0xf0 ? 0x90 : 0x80, c == 0xf4 ? 0x8f : 0xbf) ? 4 : 0;
	return 0;
}

bool utf8_valid(const char *s)
{
	size_t n;

	while ((n = utf8_char(s)) > 0)
		s += n;
	return *s == '\0';
}

char *utf8_repair(const char *s)
{
	char *copy = malloc(strlen(s) * (sizeof(replacement) - 1) + 1), *out = copy;
	size_t n;

	if (!copy)
		return NULL;
	while (*s != '\0') {
		n = utf8_char(s);
		if (n > 0) {
			memcpy(out, s, n);
			out += n;
			s += n;
		} else {
			memcpy(out, replacement, sizeof(replacement) - 1);
			out += sizeof(replacement) - 1;
			s++;
		}
	}
	*out = '\0';
	return copy;
}
