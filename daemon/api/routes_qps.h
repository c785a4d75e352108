/* SPDX-License-Identifier: Apache-2.0 */
/* routes_qps.h - GET /api/v1/qps: for routes.c. Pure. */
#pragma once

#include "routes.h"

/* ?device=&pod=&top=&limit=; replies now, or keeps request->later until the table is fresh. */
void routes_qps(struct routes *, const struct http_request *, struct http_reply *);
