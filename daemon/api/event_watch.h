/* SPDX-License-Identifier: Apache-2.0 */
/* event_watch.h - requests that wait for events are answered when there are some, or at their
 * deadline. */
#pragma once

#include "api_attachments.h"
#include "deferred_list.h"

/* Longer waits are cut to this: deferred answers have a deadline, too, see http_opts.kept_ms. */
#define EVENT_WAIT_MAX_MS 25000

struct event_waiter {
	struct deferred_item item; /* first */
	struct event_filter filter;
	char *pod, *device, *reason; /* copies that the filter points to, owned; NULL: any */
};

/* Read-only for callers. */
struct event_watch {
	struct deferred_list waiters; /* of struct event_waiter */
	const struct event_ring *ring;
};

/* The ring must outlive it. */
int event_watch_open(struct event_watch **ret, struct uv_loop_s *, const struct event_ring *,
		     struct err *);
/* Call from within the handler; keeps the deferred answer. -ENOMEM: not kept. */
int event_watch_wait(struct event_watch *, struct http_deferred *, const struct event_filter *,
		     uint64_t until_ms);
/* Call after adding to the ring: waiters are answered in the loop's next turn. NULL is allowed. */
void event_watch_wake(struct event_watch *);
/* Answers all waiters with the current events of the ring. NULL is allowed. */
void event_watch_close(struct event_watch *);
