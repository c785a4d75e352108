// SPDX-License-Identifier: Apache-2.0
#include "query.h"

#include <errno.h>
#include <stdlib.h>

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
