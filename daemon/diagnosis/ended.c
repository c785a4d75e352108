// SPDX-License-Identifier: Apache-2.0
#include "ended.h"

#include <string.h>

#include "search.h"

static void drop_oldest(struct ended_list *e, size_t n)
{
	e->n -= n;
	memmove(e->list, e->list + n, e->n * sizeof(e->list[0]));
}

void ended_add(struct ended_list *e, const struct verdict *v, uint64_t now_ms, uint64_t unix_ms)
{
	uint64_t over_ms = v->over_ms ? now_ms - v->over_ms : 0;

	if (e->n == ENDED_MAX)
		drop_oldest(e, 1);
	e->list[e->n++] = (struct ended_verdict){*v, now_ms - over_ms, unix_ms - over_ms, now_ms};
	verdict_show_worst(&e->list[e->n - 1].verdict);
}

static bool ended_continues_as(const struct verdict *v, const struct verdict *open)
{
	if (open->change == VERDICT_CLOSED && open->opened_ms == 0)
		return false;
	return open->port == v->port &&
	       ((open->cause == v->cause && strcmp(open->device, v->device) == 0) ||
		(open->cause == v->explained_by && strcmp(open->device, v->explained_on) == 0));
}

bool ended_is_over(const struct ended_verdict *e, const struct verdict *open, size_t n)
{
	return e->verdict.closed != CLOSE_EXPLAINED ||
	       !any_of(n, i, ended_continues_as(&e->verdict, &open[i]));
}

void ended_forget(struct ended_list *e, uint64_t now_ms)
{
	size_t n = 0;

	while (n < e->n && e->list[n].closed_ms + ENDED_KEPT_MS < now_ms)
		n++;
	if (n > 0)
		drop_oldest(e, n);
}
