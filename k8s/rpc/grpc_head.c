// SPDX-License-Identifier: Apache-2.0
/* grpc_head.c - header lists of requests and responses, field by field. Requests are checked here,
 * because nghttp2 would reject a socket path as :authority. Pure. */
#include <stdlib.h>
#include <string.h>

#include "grpc_internal.h"

enum { SEEN_METHOD = 1, SEEN_SCHEME = 2, SEEN_PATH = 4, SEEN_AUTHORITY = 8 };

struct field {
	const char *name, *value;
	size_t name_len, len;
};

nghttp2_nv grpc_nv(const char *name, const char *value)
{
	return (nghttp2_nv){(uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value),
			    NGHTTP2_NV_FLAG_NONE};
}

void grpc_head_init(struct grpc_head *h)
{
	*h = (struct grpc_head){.timeout_ms = GRPC_NEVER, .grpc_status = -1};
}

void grpc_head_done(struct grpc_head *h)
{
	free(h->path);
	free(h->message);
}

void grpc_head_next(struct grpc_head *h)
{
	h->size = 0;
	h->has_regular = false;
}

static bool is_name(const struct field *f, const char *name)
{
	return f->name_len == strlen(name) && memcmp(f->name, name, f->name_len) == 0;
}

static bool is_value(const struct field *f, const char *value)
{
	return f->len == strlen(value) && memcmp(f->value, value, f->len) == 0;
}

/* True for "application/grpc", "application/grpc+proto", "application/grpc;…"; not for
 * "application/grpc-web". */
static bool is_grpc_type(const struct field *f)
{
	static const char type[] = "application/grpc";
	size_t n = sizeof(type) - 1;

	return f->len >= n && memcmp(f->value, type, n) == 0 &&
	       (f->len == n || f->value[n] == '+' || f->value[n] == ';');
}

static bool count_field(struct grpc_head *h, const struct field *f)
{
	h->size += f->name_len + f->len + 32;
	if (h->size > GRPC_HEADERS_MAX)
		h->is_too_large = true;
	return !h->is_too_large;
}

static void head_keep_text(struct grpc_head *h, char **ret, char *copy)
{
	if (!copy)
		h->is_out_of_memory = true;
	free(*ret);
	*ret = copy;
}

static char *grpc_copy_text(const struct field *f)
{
	char *copy = malloc(f->len + 1);

	if (copy) {
		memcpy(copy, f->value, f->len);
		copy[f->len] = '\0';
	}
	return copy;
}

/* --- requests ------------------------------------------------------------------------------- */

static void take_pseudo(struct grpc_head *h, const struct field *f)
{
	unsigned bit = is_name(f, ":method")	  ? SEEN_METHOD
		       : is_name(f, ":scheme")	  ? SEEN_SCHEME
		       : is_name(f, ":path")	  ? SEEN_PATH
		       : is_name(f, ":authority") ? SEEN_AUTHORITY
						  : 0;

	if (bit == 0 || (h->seen & bit) || h->has_regular) {
		h->is_malformed = true;
		return;
	}
	h->seen |= bit;
	if (bit == SEEN_METHOD)
		h->is_post = is_value(f, "POST");
	else if (bit == SEEN_PATH)
		head_keep_text(h, &h->path, grpc_copy_text(f));
}

/* True if HTTP/2 allows the field: RFC 9113 sections 8.2.1 and 8.2.2. */
static bool is_legal_field(const struct field *f)
{
	for (size_t i = 0; i < f->name_len; i++)
		if (f->name[i] <= ' ' || f->name[i] == 0x7f ||
		    (f->name[i] >= 'A' && f->name[i] <= 'Z') || f->name[i] == ':')
			return false;
	return f->name_len > 0 && !is_name(f, "connection") && !is_name(f, "transfer-encoding") &&
	       !is_name(f, "keep-alive") && !is_name(f, "proxy-connection") &&
	       !is_name(f, "upgrade");
}

void grpc_head_take_request(struct grpc_head *h, const char *name, size_t name_len,
			    const char *value, size_t len)
{
	struct field f = {name, value, name_len, len};

	if (!count_field(h, &f))
		return;
	if (name_len > 0 && name[0] == ':') {
		take_pseudo(h, &f);
		return;
	}
	h->has_regular = true;
	if (!is_legal_field(&f))
		h->is_malformed = true;
	else if (is_name(&f, "content-type"))
		h->is_grpc = is_grpc_type(&f);
	else if (is_name(&f, "grpc-timeout"))
		h->has_bad_timeout = !grpc_parse_timeout(value, len, &h->timeout_ms);
}

/* True for "/package.Service/Method" of printable characters. */
static bool is_method_path(const char *path)
{
	const char *method;

	for (const char *c = path; *c; c++)
		if (*c <= ' ' || *c == 0x7f)
			return false;
	method = path[0] == '/' ? strrchr(path + 1, '/') : NULL;
	return method && method > path + 1 && method[1] != '\0';
}

unsigned grpc_head_rejection(const struct grpc_head *h, enum grpc_status *ret,
			     const char **ret_text)
{
	const struct {
		bool applies;
		unsigned http;
		enum grpc_status status;
		const char *text;
	} reasons[] = {
		{h->is_too_large, 200, GRPC_RESOURCE_EXHAUSTED, "more than 16 KiB of headers"},
		{h->is_out_of_memory, 200, GRPC_RESOURCE_EXHAUSTED, "out of memory"},
		{!h->is_post, 405, GRPC_INTERNAL, "gRPC calls are made with POST"},
		{!h->is_grpc, 415, GRPC_INTERNAL, "the content-type is not application/grpc"},
		{!h->path || !is_method_path(h->path), 200, GRPC_UNIMPLEMENTED,
		 "the path is not /package.Service/Method"},
		{h->has_bad_timeout, 200, GRPC_INTERNAL, "malformed grpc-timeout"},
	};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (!reasons[i].applies)
			continue;
		*ret = reasons[i].status;
		*ret_text = reasons[i].text;
		return reasons[i].http;
	}
	return 0;
}

/* --- responses ------------------------------------------------------------------------------ */

static unsigned parse_http_status(const struct field *f)
{
	unsigned n = 0;

	for (size_t i = 0; i < f->len && i < 3; i++)
		n = 10 * n + (unsigned)(f->value[i] - '0');
	return n;
}

void grpc_head_take_response(struct grpc_head *h, const char *name, size_t name_len,
			     const char *value, size_t len)
{
	struct field f = {name, value, name_len, len};

	if (!count_field(h, &f))
		return;
	if (is_name(&f, ":status"))
		h->http_status = parse_http_status(&f); /* nghttp2 accepts only digits */
	else if (is_name(&f, "content-type"))
		h->is_grpc = is_grpc_type(&f);
	else if (is_name(&f, "grpc-status"))
		h->grpc_status = grpc_parse_status(value, len) < 0 ? GRPC_UNKNOWN
								   : grpc_parse_status(value, len);
	else if (is_name(&f, "grpc-message"))
		head_keep_text(h, &h->message, grpc_percent_decode(value, len));
}
