/* event_watch.h - answers those who wait for events: as soon as there are some, or when their time
 * is over. */
#pragma once

#include "err.h"
#include "event_waiters.h"

struct uv_loop_s;
struct event_watch;

/* The ring must outlive it. */
int event_watch_open(struct event_watch **ret, struct uv_loop_s *, const struct event_ring *,
		     struct err *);
/* For the routes; lives as long as the watch. */
struct event_waiters *event_watch_waiters(struct event_watch *);
/* Something was added to the ring: those who wait are answered in the loop's next turn. NULL is
 * fine.
 */
void event_watch_wake(struct event_watch *);
/* Answers everybody with what there is. NULL is fine. */
void event_watch_close(struct event_watch *);
