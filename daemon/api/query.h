/* SPDX-License-Identifier: Apache-2.0 */
/* query.h - reads parameters of a query. Pure. */
#pragma once

#include "http.h"

/* Reads a number; 0 if the parameter is missing. -EINVAL: it is not a number. */
int query_number(const struct http_request *, const char *name, uint64_t *ret, struct err *);
