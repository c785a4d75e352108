/* SPDX-License-Identifier: Apache-2.0 */
/* waiters.h - requests of containers and admins that wait for the engine. Each is answered once, in
 * the engine's tick, or removed by its caller. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "err.h"

struct attach_view;
struct waiter;

/* Returns true if there is an answer, in *err (code 0: success). Otherwise *err describes what the
 * request waits for. view NULL: not known yet. */
typedef bool waiter_poll_fn(struct waiter *, const struct attach_view *, struct err *err);
/* Delivers the answer and frees the object that contains the waiter. May add and remove waiters. */
typedef void waiter_answer_fn(struct waiter *, const struct err *);

struct waiter {
	struct waiter *next;
	waiter_poll_fn *look;
	waiter_answer_fn *answer;
	uint64_t since_ms, deadline_ms; /* NEVER = none */
};

struct waiters {
	struct waiter *first;
};

/* Adds a waiter at the end. */
void waiters_add(struct waiters *, struct waiter *);
/* Removes a waiter without an answer. */
void waiters_remove(struct waiters *, struct waiter *);
/* Answers the waiters that have an answer, and with -ETIMEDOUT those past their deadline. Returns
 * the next deadline. */
uint64_t waiters_settle(struct waiters *, const struct attach_view *, uint64_t now_ms);
/* Answers all waiters with -ECANCELED. */
void waiters_close(struct waiters *);
