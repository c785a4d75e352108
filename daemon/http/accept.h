/* SPDX-License-Identifier: Apache-2.0 */
/* accept.h - chooses format and encoding of an answer from the headers of a request, RFC 9110
 * section 12.5. Pure.
 *
 * Header values are untrusted bytes: anything that does not parse is ignored. */
#pragma once

#include <stdbool.h>

#include "page.h"

/* Returns the format for an Accept header ("" = none): OpenMetrics 1.0.0 if it is named with a
 * weight that is not below that of text/plain, otherwise Prometheus text. */
enum metrics_format accept_metrics(const char *accept);
/* Returns the Content-Type of a format; static. */
const char *accept_content_type(enum metrics_format);

/* True if an Accept-Encoding header ("" = none) permits gzip. */
bool accept_gzip(const char *accept_encoding);

/* True if an Accept header names text/html: a browser, not a client that takes anything. */
bool accept_html(const char *accept);
