/* loop_helpers.h - run a libuv loop until something is true, never for a fixed time. */
#pragma once

#include <stdbool.h>
#include <uv.h>

/* When to give up, for whatever is waited for: well above what anything takes on a busy machine. */
#define PATIENCE_MS 60000

/* Runs the loop until done(arg); false when that took longer than limit_ms. done() is asked again
 * at least every millisecond, so it may look at things that the loop does not know of. */
bool loop_until(uv_loop_t *, bool (*done)(void *), void *arg, unsigned limit_ms);

/* Runs the loop for that long and returns how often it woke up: what "idle" costs. */
unsigned loop_wakeups(uv_loop_t *, unsigned ms);
/* Whether it comes to rest: before long there are that many ms with at most so many wake-ups. What
 * was still to be said is said late on a slow machine. */
bool loop_sleeps(uv_loop_t *, unsigned ms, unsigned wakeups);

/* Lets the handles that are closing close; returns uv_loop_close(). */
int loop_end(uv_loop_t *);
