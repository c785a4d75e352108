// SPDX-License-Identifier: Apache-2.0
/* grpc_text.c - the text formats of messages, timeouts and status codes in header fields: gRPC's
 * PROTOCOL-HTTP2 document. Pure. */
#include <stdlib.h>
#include <string.h>

#include "grpc_internal.h"
#include "utf8.h"

#define REPLACEMENT "\xef\xbf\xbd"

static bool grpc_is_plain(char c)
{
	return c >= ' ' && c <= '~' && c != '%';
}

/* Length of the text, truncated at the start of a character. */
static size_t text_cut_length(const char *text)
{
	size_t len = strnlen(text, GRPC_TEXT_MAX);

	if (text[len] == '\0')
		return len;
	while (len > GRPC_TEXT_MAX - 4 && ((unsigned char)text[len] & 0xc0) == 0x80)
		len--;
	return len;
}

char *grpc_percent_encode(const char *text)
{
	static const char digits[] = "0123456789ABCDEF";
	size_t len = text_cut_length(text);
	char *ret = malloc(3 * len + 1), *to = ret;

	if (!ret)
		return NULL;
	for (size_t i = 0; i < len; i++) {
		if (grpc_is_plain(text[i])) {
			*to++ = text[i];
			continue;
		}
		*to++ = '%';
		*to++ = digits[(unsigned char)text[i] >> 4];
		*to++ = digits[(unsigned char)text[i] & 0xf];
	}
	*to = '\0';
	return ret;
}

static int hex_digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes the escapes; returns the length without the NUL. */
static size_t unescape(const char *bytes, size_t len, char *to)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		if (bytes[i] == '%' && i + 2 < len && hex_digit_value(bytes[i + 1]) >= 0 &&
		    hex_digit_value(bytes[i + 2]) >= 0) {
			to[n++] = (char)(hex_digit_value(bytes[i + 1]) << 4 |
					 hex_digit_value(bytes[i + 2]));
			i += 2;
		} else {
			to[n++] = bytes[i];
		}
	}
	to[n] = '\0';
	return n;
}

char *grpc_percent_decode(const char *bytes, size_t len)
{
	/* The decoded bytes are at the end of the buffer, because an invalid byte becomes three. */
	char *ret = malloc(3 * len + 2), *to = ret, *from, *end;

	if (!ret)
		return NULL;
	from = ret + 2 * len + 1;
	end = from + unescape(bytes, len, from);
	while (from < end) {
		size_t n = utf8_char(from);
		const char *c = n ? from : REPLACEMENT;

		memmove(to, c, n ? n : 3);
		to += n ? n : 3;
		from += n ? n : 1;
	}
	*to = '\0';
	return ret;
}

/* Units as fractions of a millisecond: num / den. */
static bool timeout_unit(char unit, uint64_t *ret_num, uint64_t *ret_den)
{
	static const struct {
		char unit;
		uint32_t num, den;
	} units[] = {{'H', 3600000, 1}, {'M', 60000, 1}, {'S', 1000, 1},
		     {'m', 1, 1},	{'u', 1, 1000},	 {'n', 1, 1000000}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (units[i].unit != unit)
			continue;
		*ret_num = units[i].num;
		*ret_den = units[i].den;
		return true;
	}
	return false;
}

static bool parse_number(const char *s, size_t len, size_t max_digits, uint64_t *ret)
{
	uint64_t n = 0;

	if (len == 0 || len > max_digits)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (s[i] < '0' || s[i] > '9')
			return false;
		n = 10 * n + (uint64_t)(s[i] - '0');
	}
	*ret = n;
	return true;
}

bool grpc_parse_timeout(const char *s, size_t len, uint64_t *ret_ms)
{
	uint64_t n, num, den;

	if (len < 2 || !timeout_unit(s[len - 1], &num, &den) || !parse_number(s, len - 1, 8, &n))
		return false;
	*ret_ms = (n * num + den - 1) / den;
	return true;
}

void grpc_format_timeout(uint32_t ms, char *ret, size_t size)
{
	if (ms <= 99999999)
		snprintf(ret, size, "%um", ms);
	else
		snprintf(ret, size, "%uS", ms / 1000 + (ms % 1000 != 0));
}

int grpc_parse_status(const char *s, size_t len)
{
	uint64_t n;

	if (!parse_number(s, len, 9, &n))
		return -1;
	return n <= GRPC_UNAUTHENTICATED ? (int)n : GRPC_UNKNOWN;
}
