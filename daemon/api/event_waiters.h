/* event_waiters.h - who waits for events that have not happened yet. Pure; time is an argument, and
 * whoever has the clock looks again when something happened or the next one's time is over. */
#pragma once

#include "api_attachments.h"
#include "http.h"

/* Longer waits are cut to this: an answer that comes later has a deadline of its own, see
 * http_opts.order_ms. */
#define EVENT_WAIT_MAX_MS 25000

struct event_waiter {
	struct http_deferred *deferred; /* kept */
	struct event_filter filter;
	char *pod, *device; /* what the filter names, owned; NULL: any */
	uint64_t until_ms;
};

struct event_waiters {
	struct event_waiter *items; /* owned; as many as the server lets wait */
	size_t n;
	void (*added)(void *arg); /* there may be an earlier deadline; not from within to look */
	void *arg;
};

/* Keeps the deferred answer, from within the handler. -ENOMEM: it does not. */
int event_waiters_add(struct event_waiters *, struct http_deferred *, const struct event_filter *,
		      uint64_t until_ms);
/* Answers those for whom there are events, whose time is over, or who have left. When the next
 * one's is; UINT64_MAX: nobody waits. Not from within the server's handler. */
uint64_t event_waiters_look(struct event_waiters *, const struct event_ring *, uint64_t now_ms);
