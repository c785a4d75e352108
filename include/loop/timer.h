/* SPDX-License-Identifier: Apache-2.0 */
/* timer.h - a timer with one deadline; an owner with several deadlines sets it to the next one.
 * Times are loop times in ms (uv_now()). */
#pragma once

#include <stdint.h>
#include <uv.h>

/* No deadline; the timer stops. */
#define TIMER_NEVER UINT64_MAX

/* Embedded in its owner's struct. */
struct timer {
	uv_timer_t handle;
	void (*fn)(void *arg);
	void (*closed)(void *arg);
	void *arg;
};

/* fn is called in the loop, once per deadline set. */
void timer_init(struct timer *, uv_loop_t *, void (*fn)(void *arg), void *arg);
/* Replace the previous deadline. A deadline in the past expires in the next iteration of the loop's
 * timers; TIMER_NEVER stops the timer. */
void timer_at(struct timer *, uint64_t at_ms);
void timer_in(struct timer *, uint64_t ms);
/* Like timer_in(), but keeps an earlier deadline. */
void timer_within(struct timer *, uint64_t ms);
/* Stops the timer. closed (may be NULL) is called once from the loop with fn's arg; then the owner
 * may free its memory. Call it once. */
void timer_close(struct timer *, void (*closed)(void *arg));
