/* SPDX-License-Identifier: Apache-2.0 */
/* routes_agent.h - GET /api/v1/agent, for routes.c. Pure. */
#pragma once

#include "routes.h"

void routes_agent(struct routes *, const struct http_request *, struct http_reply *);
