/* accept.h - content negotiation for the metrics page, RFC 9110 section 12.5. Pure.
 *
 * Header values are bytes from the network: anything that does not parse counts as not said. */
#pragma once

#include <stdbool.h>

#include "page.h"

/* What an Accept header ("" = none) gets: OpenMetrics 1.0.0 when it is asked for by name with a
 * weight that is not below that of text/plain, Prometheus text otherwise. */
enum metrics_format accept_metrics(const char *accept);
/* The Content-Type of that format. Static. */
const char *accept_content_type(enum metrics_format);

/* Whether an Accept-Encoding header ("" = none) allows gzip. */
bool accept_gzip(const char *accept_encoding);
