/* join_sandbox.c - the pod that the kubelet means, among those the runtime knows. */
#include <string.h>

#include "join.h"

/* The list is asked for every 30 s while something is held, and no sandbox is made while the
 * kubelet does not answer. */
#define FAR_FUTURE_NS (INT64_C(300) * 1000000000)

bool join_is_older(const struct sandbox *s, const struct pod_device *d)
{
	return s->created_ns && d->reserved_ns && s->created_ns < d->reserved_ns;
}

bool join_is_younger(const struct sandbox *s, const struct pod_list *held)
{
	return held->asked_ns && s->created_ns > held->asked_ns &&
	       s->created_ns - held->asked_ns < FAR_FUTURE_NS;
}

bool join_must_ask(const struct pod_list *held, const struct sandbox_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].ready && join_is_younger(&l->items[i], held))
			return true;
	return false;
}

static int by_name(const struct sandbox *s, const struct pod_device *d)
{
	int r = strcmp(s->namespace, d->namespace);

	return r ? r : strcmp(s->pod, d->pod);
}

/* The sandboxes of that name, which stand together; an entry with a uid may have none. */
static size_t find_first(const struct sandbox_list *l, const struct pod_device *d)
{
	size_t low = 0, high = d->uid[0] ? 0 : l->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (by_name(&l->items[mid], d) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static size_t find_end(const struct sandbox_list *l, const struct pod_device *d, size_t first)
{
	if (d->uid[0])
		return l->n;
	while (first < l->n && by_name(&l->items[first], d) == 0)
		first++;
	return first;
}

static bool may_be(const struct sandbox *s, const struct pod_device *d)
{
	return !join_is_older(s, d) && (d->uid[0] == '\0' || strcmp(s->uid, d->uid) == 0);
}

static bool is_younger(const struct sandbox *a, const struct sandbox *b)
{
	if (strcmp(a->uid, b->uid) == 0 && a->attempt != b->attempt)
		return a->attempt > b->attempt;
	return a->created_ns != b->created_ns ? a->created_ns > b->created_ns
					      : a->attempt > b->attempt;
}

/* Any sandbox of the pod, which says whose uid it is. */
static const struct sandbox *find_pod(const struct sandbox_list *l, const struct pod_device *d,
				      size_t first, size_t end)
{
	const struct sandbox *best = NULL;

	for (size_t i = first; i < end; i++) {
		const struct sandbox *s = &l->items[i];
		bool timed = d->reserved_ns && s->created_ns;

		if (!may_be(s, d) || (!timed && !s->ready))
			continue;
		if (!best || (timed ? is_younger(best, s) : is_younger(s, best)))
			best = s;
	}
	return best;
}

const struct sandbox *join_sandbox(const struct sandbox_list *l, const struct pod_device *d)
{
	size_t first = find_first(l, d), end = find_end(l, d, first);
	const struct sandbox *pod = find_pod(l, d, first, end), *best = NULL;

	for (size_t i = first; i < end && pod; i++) {
		const struct sandbox *s = &l->items[i];

		if (!may_be(s, d) || !s->ready || strcmp(s->uid, pod->uid) != 0)
			continue;
		if (!best || is_younger(s, best))
			best = s;
	}
	return best;
}
