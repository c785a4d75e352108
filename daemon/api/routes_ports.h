/* routes_ports.h - GET /api/v1/ports, /api/v1/history and /api/v1/live: for routes.c and who
 * composes the daemon. Pure. */
#pragma once

#include "api_live.h"
#include "routes.h"

void routes_ports(struct routes *, const struct http_request *, struct http_reply *);
/* ?port=mlx5_0/1&since= */
void routes_history(struct routes *, const struct http_request *, struct http_reply *);
/* ?since=&events=&wait=; answers now, or keeps request->later until there is something new. */
void routes_live(struct routes *, const struct http_request *, struct http_reply *);

/* What there is, for live_watch_open(); its arg is the struct routes. */
void routes_live_look(struct live_scene *ret, uint64_t now_ms, void *routes);
