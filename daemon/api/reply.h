/* SPDX-License-Identifier: Apache-2.0 */
/* reply.h - helpers of the routes to fill in a reply. Pure. */
#pragma once

#include "http.h"

#define REPLY_TEXT "text/plain; charset=utf-8"
#define REPLY_HTML "text/html; charset=utf-8"
#define REPLY_JSON "application/json"

/* Copies the body. If out of memory: status 500 without a body. */
void reply_copy(struct http_reply *, unsigned status, const char *type, const char *body,
		size_t len);
void reply_string(struct http_reply *, unsigned status, const char *type, const char *body);
/* Takes ownership of the document; NULL means out of memory. */
void reply_document(struct http_reply *, char *text);
/* {"error":"..."} with 503: the document cannot be made yet. */
void reply_not_yet(struct http_reply *, const char *why);
/* {"error":"..."} with the HTTP status for the error code. */
void reply_error(struct http_reply *, const struct err *);
