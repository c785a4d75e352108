// SPDX-License-Identifier: Apache-2.0
#include "reply.h"

#include <jansson.h>
#include <stdlib.h>

#include "api_attachments.h"
#include "json_text.h"

void reply_copy(struct http_reply *reply, unsigned status, const char *type, const char *body,
		size_t len)
{
	char *copy = malloc(len ? len : 1);

	reply->status = copy ? status : 500;
	reply->content_type = type;
	if (!copy)
		return;
	memcpy(copy, body, len);
	reply->body = copy;
	reply->body_len = len;
}

void reply_string(struct http_reply *reply, unsigned status, const char *type, const char *body)
{
	reply_copy(reply, status, type, body, strlen(body));
}

void reply_document(struct http_reply *reply, char *text)
{
	if (!text) {
		reply_string(reply, 500, REPLY_JSON, "{\"error\":\"out of memory\"}");
		return;
	}
	reply->status = 200;
	reply->content_type = REPLY_JSON;
	reply->body = text;
	reply->body_len = strlen(text);
}

static unsigned status_of(int code)
{
	switch (-code) {
	case EINVAL:
		return 400;
	case ENODEV:
	case ENOENT:
		return 404;
	case EBUSY:
	case EEXIST:
	case ENOTUNIQ:
		return 409;
	case EAGAIN:
	case EOPNOTSUPP:
		return 503;
	}
	return 500;
}

void reply_error(struct http_reply *reply, const struct err *e)
{
	size_t len = 0;
	char *text = api_print(json_pack("{so}", "error", json_text(e->msg)), &len);

	reply_document(reply, text);
	if (text)
		reply->status = status_of(e->code);
}

void reply_not_yet(struct http_reply *reply, const char *why)
{
	struct err e = {0};

	err_set(&e, -EAGAIN, "%s", why);
	reply_error(reply, &e);
}
