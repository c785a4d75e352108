/* SPDX-License-Identifier: Apache-2.0 */
/* query.h - parameters of a query. Pure. */
#pragma once

#include "http.h"

/* *ret is 0 if the parameter is missing. -EINVAL if it is not a number. */
int query_number(const struct http_request *, const char *name, uint64_t *ret, struct err *);
