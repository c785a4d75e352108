/* live_watch.h - answers those who follow the node (api_live.h): with each sample that is judged,
 * soon after an event, or when their time is over. */
#pragma once

#include "api_live.h"
#include "due.h"
#include "http.h"

/* Longer waits are cut to this: an answer that comes later has a deadline of its own, see
 * http_opts.order_ms. */
#define LIVE_WAIT_MAX_MS   25000
/* Events that come together are told together. */
#define LIVE_EVENT_WAIT_MS 200

struct live_waiter {
	struct http_deferred *deferred; /* kept */
	struct live_question question;
	uint64_t until_ms;
};

typedef void live_look_fn(struct live_scene *ret, uint64_t now_ms, void *arg);

/* To be read; changed by the functions below. */
struct live_watch {
	struct due due;
	live_look_fn *look;
	void *look_arg;
	struct live_cache cache;
	struct live_waiter *items; /* owned; as many as the server lets wait */
	size_t n;
};

/* look says what there is, whenever that is to be told. */
int live_watch_open(struct live_watch **ret, struct uv_loop_s *, live_look_fn *look, void *look_arg,
		    struct err *);
/* Keeps the deferred answer, from within the handler. -ENOMEM: it does not. */
int live_watch_wait(struct live_watch *, struct http_deferred *, const struct live_question *,
		    uint64_t until_ms);
/* A sample was judged: those who wait are answered in the loop's next turn. NULL is fine. */
void live_watch_sample(struct live_watch *);
/* Something was added to the ring: a moment later. NULL is fine. */
void live_watch_event(struct live_watch *);
/* Answers everybody with what there is. NULL is fine. */
void live_watch_close(struct live_watch *);
