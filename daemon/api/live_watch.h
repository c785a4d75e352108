/* SPDX-License-Identifier: Apache-2.0 */
/* live_watch.h - requests that follow the node (api_live.h) are answered after each judged sample,
 * soon after an event, or at their deadline. */
#pragma once

#include "api_live.h"
#include "deferred_list.h"

/* Longer waits are cut to this: deferred answers have a deadline, too, see http_opts.kept_ms. */
#define LIVE_WAIT_MAX_MS   25000
/* Events within this time are answered together. */
#define LIVE_EVENT_WAIT_MS 200

struct live_waiter {
	struct deferred_item item; /* first */
	struct live_query query;
};

typedef void live_fill_fn(struct live_input *ret, uint64_t now_ms, void *arg);

/* Read-only for callers. */
struct live_watch {
	struct deferred_list waiters; /* of struct live_waiter */
	live_fill_fn *fill;
	void *fill_arg;
	struct live_cache cache;
};

/* `fill` fills in the input whenever waiters are checked. */
int live_watch_open(struct live_watch **ret, struct uv_loop_s *, live_fill_fn *fill, void *fill_arg,
		    struct err *);
/* Call from within the handler; keeps the deferred answer. -ENOMEM: not kept. */
int live_watch_wait(struct live_watch *, struct http_deferred *, const struct live_query *,
		    uint64_t until_ms);
/* Call after judging a sample: waiters are answered in the loop's next turn. NULL is allowed. */
void live_watch_sample(struct live_watch *);
/* Call after adding to the ring: waiters are answered within LIVE_EVENT_WAIT_MS. NULL is
 * allowed. */
void live_watch_event(struct live_watch *);
/* Answers all waiters with the current state. NULL is allowed. */
void live_watch_close(struct live_watch *);
