/* SPDX-License-Identifier: Apache-2.0 */
/* err.h - the error type: a code to act on and a message to read.
 *
 * Every function that can fail returns 0 or a positive count on success and a negative errno on
 * failure. Functions whose failure is shown to a person also fill a caller-owned struct err, which
 * is their last parameter. */
#pragma once

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct err {
	int code; /* negative errno of the root cause, 0 = none */
	char msg[256];
};

/* Sets code and message; returns code, so that `return err_set(e, -EINVAL, ...)` reads well. e may
 * be NULL. */
__attribute__((format(printf, 3, 4))) static inline int err_set(struct err *e, int code,
								const char *fmt, ...)
{
	va_list ap;

	if (e) {
		e->code = code;
		va_start(ap, fmt);
		vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
		va_end(ap);
	}
	return code;
}

/* Prefixes the message with context ("eth0: setting MTU: Device or resource busy"); returns the
 * code. */
__attribute__((format(printf, 2, 3))) static inline int err_wrap(struct err *e, const char *fmt,
								 ...)
{
	char inner[sizeof(e->msg)];
	size_t n;
	va_list ap;

	if (!e)
		return -EINVAL;
	memcpy(inner, e->msg, sizeof(inner));
	va_start(ap, fmt);
	vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	n = strlen(e->msg);
	snprintf(e->msg + n, sizeof(e->msg) - n, ": %.*s", (int)sizeof(inner) - 1, inner);
	return e->code;
}

/* True if the operation may succeed when it is retried. */
static inline bool err_is_transient(int code)
{
	return code == -EAGAIN || code == -EINTR || code == -EBUSY || code == -ENOBUFS ||
	       code == -ETIMEDOUT;
}

/* True if the object was removed between two calls. This is no error: scan again. */
static inline bool err_is_not_found(int code)
{
	return code == -ENODEV || code == -ENOENT || code == -ENXIO;
}
