/* SPDX-License-Identifier: Apache-2.0 */
/* routes_ports.h - GET /api/v1/ports, /api/v1/history, /api/v1/counters and /api/v1/live, for
 * routes.c and daemon/compose. Pure. */
#pragma once

#include "api_live.h"
#include "routes.h"

void routes_ports(struct routes *, const struct http_request *, struct http_reply *);
/* ?port=mlx5_0/1: the counters of one port; replies with the next sample that has rates. */
void routes_counters(struct routes *, const struct http_request *, struct http_reply *);
/* ?port=mlx5_0/1&since= for one port, ?every=&signals= for all ports. */
void routes_history(struct routes *, const struct http_request *, struct http_reply *);
/* ?since=&events=&wait=; replies now, or keeps request->later until there is something new. */
void routes_live(struct routes *, const struct http_request *, struct http_reply *);

/* The fill function for live_watch_open(); its arg is the struct routes. */
void routes_live_input(struct live_input *ret, uint64_t now_ms, void *routes);
