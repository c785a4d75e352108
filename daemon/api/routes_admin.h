/* SPDX-License-Identifier: Apache-2.0 */
/* routes_admin.h - what a POST does. For routes.c alone. Pure. */
#pragma once

#include "routes.h"

/* POST /api/v1/attach, /api/v1/detach, /api/v1/doctor/fix and ROUTES_CNI_PATH; other paths are left
 * unanswered. */
void routes_admin(struct routes *, const struct http_request *, struct http_reply *);
