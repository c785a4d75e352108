/* SPDX-License-Identifier: Apache-2.0 */
/* query.h - reads parameters of a query. Pure. */
#pragma once

#include "http.h"

/* Reads a number; 0 if the parameter is missing. -EINVAL: it is not a number. */
int query_number(const struct http_request *, const char *name, uint64_t *ret, struct err *);
/* Reads a moment (moment_text.h) as unix milliseconds; 0 if the parameter is missing. -EINVAL: it
 * is not one. */
int query_moment(const struct http_request *, const char *name, uint64_t now_unix_ms,
		 uint64_t after, uint64_t *ret, struct err *);
/* Reads the time of a sample on the monotonic clock of the daemon: as this number of milliseconds,
 * or as a moment. epoch_ms: unix time at that clock's 0. */
int query_sample(const struct http_request *, const char *name, uint64_t epoch_ms, uint64_t *ret,
		 struct err *);
