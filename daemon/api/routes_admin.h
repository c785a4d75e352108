/* SPDX-License-Identifier: Apache-2.0 */
/* routes_admin.h - handles POST requests, for routes.c only. Pure. */
#pragma once

#include "routes.h"

/* Answers POST /api/v1/attach, /api/v1/detach, /api/v1/doctor/fix, /api/v1/hand-over and
 * ROUTES_CNI_PATH; leaves the reply to other paths empty. */
void routes_admin(struct routes *, const struct http_request *, struct http_reply *);
