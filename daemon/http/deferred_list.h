/* SPDX-License-Identifier: Apache-2.0 */
/* deferred_list.h - lists requests that are answered after an event in the daemon. */
#pragma once

#include <stdbool.h>

#include "http.h"
#include "timer.h"

/* First member of each item, followed by the owner's data for the answer. */
struct deferred_item {
	struct http_deferred *deferred; /* held by http_keep() */
	uint64_t until_ms;
};

/* Embedded in its owner's struct. */
struct deferred_list {
	struct timer timer;
	size_t item_size;
	void *items; /* owned; the server limits their number */
	size_t n;
};

/* True if the request was answered. over: the request must be answered now in any case, because its
 * time has passed, its client has disconnected, or the daemon stops. */
typedef bool deferred_answer_fn(void *item, bool over, void *arg);

/* Initialises the list. on_timer is called at deadlines and after deferred_list_wake(), and calls
 * deferred_list_settle(). */
void deferred_list_init(struct deferred_list *, uv_loop_t *, size_t item_size,
			void (*on_timer)(void *arg), void *arg);
/* Keeps a deferred answer. Returns its item, zeroed behind the head, for the owner to fill in;
 * valid until the next call. NULL: out of memory, not kept. */
void *deferred_list_add(struct deferred_list *, struct http_deferred *, uint64_t until_ms);
/* Removes the requests that answer() answers, and sets the timer for the next deadline. */
void deferred_list_settle(struct deferred_list *, bool all_over, deferred_answer_fn *answer,
			  void *arg);
/* Calls on_timer within this time, unless no request waits. */
void deferred_list_wake(struct deferred_list *, uint64_t within_ms);
/* Closes the timer. Call deferred_list_settle() with all_over first. closed: as in timer_close().
 */
void deferred_list_close(struct deferred_list *, void (*closed)(void *arg));
