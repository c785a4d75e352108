// SPDX-License-Identifier: Apache-2.0
/* pod_sandbox.c - compares the order of events: allocated, created, listed, started. */
#include "pod_sandbox.h"

#include <string.h>

#include "search.h"

/* The order of the sandbox's creation and the Allocate of the device. */
enum order { MADE_BEFORE, MADE_SINCE, NOT_KNOWN };

static enum order pod_sandbox_order_of(const struct sandbox *s, const struct pod_device *d)
{
	if (!d->reserved_ms)
		return NOT_KNOWN;
	if (s->seen_ms < d->reserved_ms)
		return MADE_BEFORE;
	return s->made_ms >= d->reserved_ms ? MADE_SINCE : NOT_KNOWN;
}

bool pod_sandbox_is_younger(const struct sandbox *s, const struct pod_list *held)
{
	return held->asked_ms && s->seen_ms > held->asked_ms;
}

bool pod_sandbox_needs_details(const struct pod_list *held, const struct sandbox_list *l,
			       uint64_t since_ms)
{
	return any_of(l->n, i,
		      l->items[i].ready && l->items[i].seen_ms > since_ms &&
			      pod_sandbox_is_younger(&l->items[i], held));
}

static int pod_sandbox_by_name(const struct sandbox *s, const struct pod_device *d)
{
	int r = strcmp(s->namespace, d->namespace);

	return r ? r : strcmp(s->pod, d->pod);
}

/* Finds the first sandbox of that name; they are adjacent. An entry with a uid may have no name, so
 * all sandboxes are searched. */
static size_t pod_sandbox_first(const struct sandbox_list *l, const struct pod_device *d)
{
	size_t low = 0, high = d->uid[0] ? 0 : l->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (pod_sandbox_by_name(&l->items[mid], d) < 0)
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
	while (first < l->n && pod_sandbox_by_name(&l->items[first], d) == 0)
		first++;
	return first;
}

static bool may_be(const struct sandbox *s, const struct pod_device *d)
{
	return (d->uid[0] == '\0' || strcmp(s->uid, d->uid) == 0) &&
	       pod_sandbox_order_of(s, d) != MADE_BEFORE;
}

static bool pod_sandbox_same_pod(const struct sandbox *a, const struct sandbox *b)
{
	return strcmp(a->uid, b->uid) == 0;
}

/* True if the sandbox was created since the Allocate, or if its creation time is in the future
 * (made_ms is 0): then the clock was set, and creation times prove nothing. */
static bool may_be_since(const struct sandbox *s, const struct pod_device *d)
{
	return pod_sandbox_order_of(s, d) == MADE_SINCE ||
	       (pod_sandbox_order_of(s, d) == NOT_KNOWN && d->reserved_ms && !s->made_ms);
}

/* Returns a sandbox of the pod whose sandbox was the first created since the Allocate. NULL if
 * another such pod has a ready sandbox, too, because it is unknown how long the creation of a
 * sandbox took. */
static const struct sandbox *first_since(const struct sandbox *s, size_t n,
					 const struct pod_device *d)
{
	const struct sandbox *first = NULL;

	for (size_t i = 0; i < n; i++)
		if (may_be(&s[i], d) && pod_sandbox_order_of(&s[i], d) == MADE_SINCE &&
		    (!first || sandbox_is_younger(first, &s[i])))
			first = &s[i];
	for (size_t i = 0; i < n && first && first->ready; i++)
		if (may_be(&s[i], d) && may_be_since(&s[i], d) && s[i].ready &&
		    !pod_sandbox_same_pod(&s[i], first))
			return NULL;
	return first;
}

/* True if another pod of the same name has a younger sandbox. Then the entry may belong to that
 * pod, even if its sandbox has ended, and s may belong to its predecessor, whose containers still
 * run.
 */
static bool has_successor(const struct sandbox *s, const struct sandbox *all, size_t n,
			  const struct pod_device *d)
{
	return any_of(n, i,
		      may_be(&all[i], d) && !pod_sandbox_same_pod(&all[i], s) &&
			      sandbox_is_younger(&all[i], s));
}

/* Returns a sandbox of the only pod that has a ready sandbox, unless that pod has a successor. */
static const struct sandbox *only_one(const struct sandbox *s, size_t n, const struct pod_device *d)
{
	const struct sandbox *only = NULL;

	for (size_t i = 0; i < n; i++) {
		if (!may_be(&s[i], d) || !s[i].ready)
			continue;
		if (only && !pod_sandbox_same_pod(&s[i], only))
			return NULL;
		only = &s[i];
	}
	return only && !has_successor(only, s, n, d) ? only : NULL;
}

/* True if the list contains the sandbox: a container waits to be started, and the list was
 * requested after that. */
static bool is_sure_to_be_listed(const struct sandbox_list *l, const struct pod_device *d)
{
	return d->start_ms && l->asked_ms >= d->start_ms;
}

static const struct sandbox *pod_sandbox_find_pod(const struct sandbox_list *l,
						  const struct sandbox *s, size_t n,
						  const struct pod_device *d)
{
	const struct sandbox *pod = first_since(s, n, d);

	if (!pod && ((!d->reserved_ms && !d->start_ms) || is_sure_to_be_listed(l, d)))
		pod = only_one(s, n, d);
	return pod;
}

const struct sandbox *pod_sandbox_find(const struct sandbox_list *l, const struct pod_device *d)
{
	size_t first = pod_sandbox_first(l, d), n = find_end(l, d, first) - first;
	const struct sandbox *s = &l->items[first], *pod = pod_sandbox_find_pod(l, s, n, d),
			     *best = NULL;

	for (size_t i = 0; i < n && pod; i++)
		if (may_be(&s[i], d) && s[i].ready && pod_sandbox_same_pod(&s[i], pod) &&
		    (!best || sandbox_is_younger(&s[i], best)))
			best = &s[i];
	return best;
}

bool pod_sandbox_may_be(const struct sandbox_list *l, const struct pod_device *d)
{
	size_t first = pod_sandbox_first(l, d), end = find_end(l, d, first);

	for (size_t i = first; i < end; i++)
		if (l->items[i].ready && may_be(&l->items[i], d))
			return true;
	return false;
}
