/* routes_orders.h - what a POST does. For routes.c alone. Pure. */
#pragma once

#include "routes.h"

/* POST /api/v1/attach, /api/v1/detach and /api/v1/doctor/fix; other paths are left unanswered. */
void routes_order(struct routes *, const struct http_request *, struct http_reply *);
