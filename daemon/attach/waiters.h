/* waiters.h - who waits for the engine: containers before their start, people for what they have
 * ordered. Each is answered once, in the engine's tick, or dropped by whoever asked. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "err.h"

struct attach_view;
struct waiter;

/* Is there an answer? *err: 0, or why not; of one that goes on waiting, what it waits for. view
 * NULL: nothing is known yet. */
typedef bool waiter_look_fn(struct waiter *, const struct attach_view *, struct err *err);
/* The answer; frees what the waiter is part of. May ask, order or cancel anew. */
typedef void waiter_answer_fn(struct waiter *, const struct err *);

struct waiter {
	struct waiter *next;
	waiter_look_fn *look;
	waiter_answer_fn *answer;
	uint64_t since_ms, deadline_ms; /* NEVER = it has none */
};

struct waiters {
	struct waiter *first;
};

/* Behind those that wait. */
void waiters_add(struct waiters *, struct waiter *);
/* It is not answered. */
void waiters_remove(struct waiters *, struct waiter *);
/* Answers those that can be, and with -ETIMEDOUT those whose time is up. Returns the next
 * deadline. */
uint64_t waiters_settle(struct waiters *, const struct attach_view *, uint64_t now_ms);
/* All of them, with -ECANCELED. */
void waiters_close(struct waiters *);
