/* event_watch.h - answers those who wait for events: as soon as there are some, or when their time
 * is over. */
#pragma once

#include "api_attachments.h"
#include "due.h"
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

/* To be read; changed by the functions below. */
struct event_watch {
	struct due due;
	const struct event_ring *ring;
	struct event_waiter *items; /* owned; as many as the server lets wait */
	size_t n;
};

/* The ring must outlive it. */
int event_watch_open(struct event_watch **ret, struct uv_loop_s *, const struct event_ring *,
		     struct err *);
/* Keeps the deferred answer, from within the handler. -ENOMEM: it does not. */
int event_watch_wait(struct event_watch *, struct http_deferred *, const struct event_filter *,
		     uint64_t until_ms);
/* Something was added to the ring: those who wait are answered in the loop's next turn. NULL is
 * fine. */
void event_watch_wake(struct event_watch *);
/* Answers everybody with what there is. NULL is fine. */
void event_watch_close(struct event_watch *);
