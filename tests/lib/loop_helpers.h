/* SPDX-License-Identifier: Apache-2.0 */
/* loop_helpers.h - runs a libuv loop until a condition is true, instead of for a fixed time. */
#pragma once

#include <stdbool.h>
#include <uv.h>

/* Timeout for all conditions: well above what anything needs on a busy machine. */
#define PATIENCE_MS 60000

/* Runs the loop until done(arg) returns true; false after limit_ms. done() is called at least every
 * millisecond, so it may check state outside of the loop. */
bool loop_until(uv_loop_t *, bool (*done)(void *), void *arg, unsigned limit_ms);

/* Runs the loop for ms and returns how often it woke up, to measure idle cost. */
unsigned loop_wakeups(uv_loop_t *, unsigned ms);
/* Returns whether the loop becomes idle: a period of ms with at most `wakeups` wake-ups. Tries
 * several periods, because pending work may be late on a slow machine. */
bool loop_sleeps(uv_loop_t *, unsigned ms, unsigned wakeups);

/* Runs the loop until closing handles are closed; returns uv_loop_close(). */
int loop_end(uv_loop_t *);
