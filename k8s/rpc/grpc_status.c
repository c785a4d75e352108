// SPDX-License-Identifier: Apache-2.0
/* grpc_status.c - names of status codes, and their mapping to other protocols' codes. Pure. */
#include <nghttp2/nghttp2.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "grpc_internal.h"
#include "utf8.h"

/* The text formats of messages, timeouts and status codes in header fields: gRPC's
 * PROTOCOL-HTTP2 document. Pure. */

#define REPLACEMENT "\xef\xbf\xbd"

static bool grpc_is_plain(char c)
{
	return c >= ' ' && c <= '~' && c != '%';
}

/* Returns the length at which the text is truncated, the start of a character. */
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

/* Returns a unit in milliseconds, as the fraction num / den. */
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

/* The failure of a connection, and whether it accepts new calls. Pure. */

int grpc_conn_fail(struct grpc_conn *c, int code, const char *text)
{
	if (c->err.code == 0)
		err_set(&c->err, code, "%s", text);
	return code;
}

int grpc_conn_check(struct grpc_conn *c, int code)
{
	if (code >= 0 || !nghttp2_is_fatal(code))
		return code;
	c->is_broken = true;
	return grpc_conn_fail(c, code == NGHTTP2_ERR_NOMEM ? -ENOMEM : -EPROTO,
			      nghttp2_strerror(code));
}

int grpc_conn_failure(struct grpc_conn *c, struct err *err)
{
	if (c->err.code == 0)
		return 0;
	c->is_err_reported = true;
	if (err)
		*err = c->err;
	return c->err.code;
}

bool grpc_is_closing(const struct grpc_conn *c)
{
	return c->got_goaway || c->sent_goaway || c->is_freed || c->err.code != 0;
}

static const char *const names[] = {
	[GRPC_OK] = "OK",
	[GRPC_CANCELLED] = "CANCELLED",
	[GRPC_UNKNOWN] = "UNKNOWN",
	[GRPC_INVALID_ARGUMENT] = "INVALID_ARGUMENT",
	[GRPC_DEADLINE_EXCEEDED] = "DEADLINE_EXCEEDED",
	[GRPC_NOT_FOUND] = "NOT_FOUND",
	[GRPC_ALREADY_EXISTS] = "ALREADY_EXISTS",
	[GRPC_PERMISSION_DENIED] = "PERMISSION_DENIED",
	[GRPC_RESOURCE_EXHAUSTED] = "RESOURCE_EXHAUSTED",
	[GRPC_FAILED_PRECONDITION] = "FAILED_PRECONDITION",
	[GRPC_ABORTED] = "ABORTED",
	[GRPC_OUT_OF_RANGE] = "OUT_OF_RANGE",
	[GRPC_UNIMPLEMENTED] = "UNIMPLEMENTED",
	[GRPC_INTERNAL] = "INTERNAL",
	[GRPC_UNAVAILABLE] = "UNAVAILABLE",
	[GRPC_DATA_LOSS] = "DATA_LOSS",
	[GRPC_UNAUTHENTICATED] = "UNAUTHENTICATED",
};

const char *grpc_status_name(enum grpc_status status)
{
	return (size_t)status < ARRAY_SIZE(names) ? names[status] : "UNKNOWN";
}

/* The nearest status of each errno. */
static const struct {
	int code;
	enum grpc_status status;
} errnos[] = {
	{0, GRPC_OK},
	{ECANCELED, GRPC_CANCELLED},
	{EREMOTEIO, GRPC_UNKNOWN},
	{EINVAL, GRPC_INVALID_ARGUMENT},
	{E2BIG, GRPC_INVALID_ARGUMENT},
	{ENAMETOOLONG, GRPC_INVALID_ARGUMENT},
	{EILSEQ, GRPC_INVALID_ARGUMENT},
	{ETIMEDOUT, GRPC_DEADLINE_EXCEEDED},
	{ENOENT, GRPC_NOT_FOUND},
	{ENODEV, GRPC_NOT_FOUND},
	{ENXIO, GRPC_NOT_FOUND},
	{ESRCH, GRPC_NOT_FOUND},
	{EEXIST, GRPC_ALREADY_EXISTS},
	{EACCES, GRPC_PERMISSION_DENIED},
	{EPERM, GRPC_PERMISSION_DENIED},
	{EROFS, GRPC_PERMISSION_DENIED},
	{ENOBUFS, GRPC_RESOURCE_EXHAUSTED},
	{ENOMEM, GRPC_RESOURCE_EXHAUSTED},
	{ENOSPC, GRPC_RESOURCE_EXHAUSTED},
	{EMFILE, GRPC_RESOURCE_EXHAUSTED},
	{ENFILE, GRPC_RESOURCE_EXHAUSTED},
	{EMSGSIZE, GRPC_RESOURCE_EXHAUSTED},
	{EBADFD, GRPC_FAILED_PRECONDITION},
	{ENOTEMPTY, GRPC_FAILED_PRECONDITION},
	{ENOTCONN, GRPC_FAILED_PRECONDITION},
	{ESTALE, GRPC_ABORTED},
	{EDEADLK, GRPC_ABORTED},
	{ERANGE, GRPC_OUT_OF_RANGE},
	{EOVERFLOW, GRPC_OUT_OF_RANGE},
	{EOPNOTSUPP, GRPC_UNIMPLEMENTED},
	{ENOSYS, GRPC_UNIMPLEMENTED},
	{EIO, GRPC_INTERNAL},
	{EPROTO, GRPC_INTERNAL},
	{EAGAIN, GRPC_UNAVAILABLE},
	{EBUSY, GRPC_UNAVAILABLE},
	{EINTR, GRPC_UNAVAILABLE},
	{EPIPE, GRPC_UNAVAILABLE},
	{ECONNREFUSED, GRPC_UNAVAILABLE},
	{ECONNRESET, GRPC_UNAVAILABLE},
	{ECONNABORTED, GRPC_UNAVAILABLE},
	{EBADMSG, GRPC_DATA_LOSS},
	{EKEYREJECTED, GRPC_UNAUTHENTICATED},
};

enum grpc_status grpc_status_of_errno(int code)
{
	for (size_t i = 0; i < ARRAY_SIZE(errnos); i++)
		if (errnos[i].code == -code)
			return errnos[i].status;
	return GRPC_UNKNOWN;
}

/* Follows gRPC's http-grpc-status-mapping document. */
enum grpc_status grpc_status_of_http(unsigned status)
{
	switch (status) {
	case 400:
		return GRPC_INTERNAL;
	case 401:
		return GRPC_UNAUTHENTICATED;
	case 403:
		return GRPC_PERMISSION_DENIED;
	case 404:
		return GRPC_UNIMPLEMENTED;
	case 429:
	case 502:
	case 503:
	case 504:
		return GRPC_UNAVAILABLE;
	default:
		return GRPC_UNKNOWN;
	}
}

/* Follows the table at the end of gRPC's PROTOCOL-HTTP2 document. */
enum grpc_status grpc_status_of_h2(uint32_t error_code)
{
	switch (error_code) {
	case NGHTTP2_REFUSED_STREAM:
		return GRPC_UNAVAILABLE;
	case NGHTTP2_CANCEL:
		return GRPC_CANCELLED;
	case NGHTTP2_ENHANCE_YOUR_CALM:
		return GRPC_RESOURCE_EXHAUSTED;
	case NGHTTP2_INADEQUATE_SECURITY:
		return GRPC_PERMISSION_DENIED;
	case NGHTTP2_STREAM_CLOSED:
		return GRPC_UNKNOWN;
	default:
		return GRPC_INTERNAL;
	}
}
