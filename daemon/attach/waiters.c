// SPDX-License-Identifier: Apache-2.0
#include "waiters.h"

#include <string.h>

#include "attachment_set.h"

void waiters_add(struct waiters *s, struct waiter *w)
{
	struct waiter **at = &s->first;

	while (*at)
		at = &(*at)->next;
	w->next = NULL;
	*at = w;
}

void waiters_remove(struct waiters *s, struct waiter *w)
{
	struct waiter **at = &s->first;

	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
}

static void too_late(const struct waiter *w, struct err *err)
{
	size_t n = strlen(err->msg);

	err->code = -ETIMEDOUT;
	snprintf(err->msg + n, sizeof(err->msg) - n, " (waited %llu ms)",
		 (unsigned long long)(w->deadline_ms - w->since_ms));
}

static bool waiters_has_answer(struct waiter *w, const struct attach_view *view, uint64_t now_ms,
			       struct err *err)
{
	*err = (struct err){0};
	if (w->look(w, view, err))
		return true;
	if (now_ms < w->deadline_ms)
		return false;
	too_late(w, err);
	return true;
}

/* Starts from the first waiter again after each answer: the callback may add a waiter or remove
 * another one. */
uint64_t waiters_settle(struct waiters *s, const struct attach_view *view, uint64_t now_ms)
{
	struct waiter *w = s->first;
	uint64_t first = NEVER;
	struct err err;

	while (w) {
		if (!waiters_has_answer(w, view, now_ms, &err)) {
			first = w->deadline_ms < first ? w->deadline_ms : first;
			w = w->next;
			continue;
		}
		waiters_remove(s, w);
		w->answer(w, &err);
		w = s->first;
		first = NEVER;
	}
	return first;
}

void waiters_close(struct waiters *s)
{
	struct err err;

	err_set(&err, -ECANCELED, "rocelet is stopping");
	while (s->first) {
		struct waiter *w = s->first;

		s->first = w->next;
		w->answer(w, &err);
	}
}
