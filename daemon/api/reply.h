/* reply.h - how the documents of routes.h are put into an answer. For nobody else. Pure. */
#pragma once

#include "http.h"

#define REPLY_TEXT "text/plain; charset=utf-8"
#define REPLY_HTML "text/html; charset=utf-8"
#define REPLY_JSON "application/json"

/* Copies the body; out of memory is a 500 without one. */
void reply_copy(struct http_reply *, unsigned status, const char *type, const char *body,
		size_t len);
void reply_string(struct http_reply *, unsigned status, const char *type, const char *body);
/* Takes the document; NULL is out of memory. */
void reply_document(struct http_reply *, char *text);
/* {"error":"..."} with the status that fits the code. */
void reply_error(struct http_reply *, const struct err *);
