/* due.h - when something has to be done next: the one timer of whoever has one or several such
 * times. They are loop times in ms (uv_now()). */
#pragma once

#include <stdint.h>
#include <uv.h>

/* Not before something else happens. */
#define DUE_NEVER UINT64_MAX

/* Part of its owner's struct. */
struct due {
	uv_timer_t timer;
	void (*fn)(void *arg);
	void (*closed)(void *arg);
	void *arg;
};

/* fn is called from the loop, once for each time that is set. */
void due_init(struct due *, uv_loop_t *, void (*fn)(void *arg), void *arg);
/* In place of what was set before. What has passed is due as soon as the loop looks at its timers
 * again; DUE_NEVER: nothing is. */
void due_at(struct due *, uint64_t at_ms);
void due_in(struct due *, uint64_t ms);
/* Unless it is due sooner anyway. */
void due_within(struct due *, uint64_t ms);
/* Nothing is due any more. closed (NULL: nobody) is called from the loop, with the arg of fn, when
 * it does not need the owner's memory any longer. Once. */
void due_close(struct due *, void (*closed)(void *arg));
