/* query.h - words of a query. Pure. */
#pragma once

#include "http.h"

/* 0 when it is not there; -EINVAL with its sentence when it is no number. */
int query_number(const struct http_request *, const char *name, uint64_t *ret, struct err *);
