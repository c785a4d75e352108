// SPDX-License-Identifier: Apache-2.0
#include "query.h"

#include <errno.h>
#include <stdlib.h>

#include "moment_text.h"

int query_number(const struct http_request *request, const char *name, uint64_t *ret, struct err *e)
{
	const char *text = http_param(request, name);
	char *end = NULL;
	uint64_t n = text ? strtoull(text, &end, 10) : 0;

	if (text && (text[0] < '0' || text[0] > '9' || *end != '\0'))
		return err_set(e, -EINVAL, "%s is not a number", name);
	*ret = n;
	return 0;
}

int query_moment(const struct http_request *request, const char *name, uint64_t now_unix_ms,
		 uint64_t after, uint64_t *ret, struct err *e)
{
	const char *text = http_param(request, name);

	*ret = 0;
	if (text && !moment_text(text, now_unix_ms, after, ret))
		return err_set(e, -EINVAL, "%s is not " MOMENT_TEXT_FORMS, name);
	return 0;
}

int query_sample(const struct http_request *request, const char *name, uint64_t epoch_ms,
		 uint64_t *ret, struct err *e)
{
	struct err no_number = {0};
	uint64_t unix_ms;

	if (query_number(request, name, ret, &no_number) == 0)
		return 0;
	if (query_moment(request, name, request->now_ms + epoch_ms, 0, &unix_ms, e) < 0)
		return e->code;
	*ret = unix_ms > epoch_ms ? unix_ms - epoch_ms : 0;
	return 0;
}
