// SPDX-License-Identifier: Apache-2.0
/* pod_devices.c - the list is sorted by device, so that lookups are binary searches. */
#include "pod_devices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "search.h"

/* --- strings ---------------------------------------------------------------------------------- */

#define TEXTS_SIZE 4000

/* A chunk of strings, which never move. */
struct pod_text {
	struct pod_text *next;
	size_t used, size;
	char bytes[];
};

static struct pod_text *texts_with_room(struct pod_list *l, size_t len)
{
	size_t size = len > TEXTS_SIZE ? len : TEXTS_SIZE;
	struct pod_text *t = l->texts;

	if (t && t->size - t->used >= len)
		return t;
	t = malloc(sizeof(*t) + size);
	if (!t)
		return NULL;
	*t = (struct pod_text){.next = l->texts, .size = size};
	l->texts = t;
	return t;
}

/* Stores a string; last: the string of the previous entry, which is shared if it is equal; may be
 * NULL. Returns NULL when out of memory. */
static const char *keep_name(struct pod_list *l, const char *text, const char *last)
{
	size_t len;
	struct pod_text *t;

	if (!text || text[0] == '\0')
		return "";
	if (last && strcmp(last, text) == 0)
		return last;
	len = strlen(text) + 1;
	t = texts_with_room(l, len);
	if (!t)
		return NULL;
	t->used += len;
	return memcpy(t->bytes + t->used - len, text, len);
}

const char *pod_list_text(struct pod_list *l, const char *text)
{
	return keep_name(l, text, NULL);
}

/* --- lists ------------------------------------------------------------------------------------ */

void pod_list_done(struct pod_list *l)
{
	while (l->texts) {
		struct pod_text *next = l->texts->next;

		free(l->texts);
		l->texts = next;
	}
	free(l->devices);
	*l = (struct pod_list){0};
}

int pod_list_push(struct pod_list *l, const struct pod_device *from)
{
	static const struct pod_device no_holder;
	const struct pod_device *last;
	struct pod_device *d = array_push(l->devices, l->n);

	if (!d)
		return -ENOMEM;
	last = l->n > 1 ? d - 1 : &no_holder;
	*d = (struct pod_device){
		.namespace = keep_name(l, from->namespace, last->namespace),
		.pod = keep_name(l, from->pod, last->pod),
		.container = keep_name(l, from->container, last->container),
		.uid = keep_name(l, from->uid, last->uid),
		.resource = keep_name(l, from->resource, last->resource),
		.id = keep_name(l, from->id, last->id),
		.reserved_ms = from->reserved_ms,
		.start_ms = from->start_ms,
		.stale = from->stale,
	};
	if (d->namespace && d->pod && d->container && d->uid && d->resource && d->id)
		return 0;
	l->n--;
	return -ENOMEM;
}

int pod_list_copy(struct pod_list *dst, const struct pod_list *src)
{
	struct pod_list copy = {.source = src->source, .asked_ms = src->asked_ms};

	for (size_t i = 0; i < src->n; i++)
		if (pod_list_push(&copy, &src->devices[i]) < 0) {
			pod_list_done(&copy);
			return -ENOMEM;
		}
	*dst = copy;
	return 0;
}

static int by_device(const struct pod_device *a, const char *resource, const char *id)
{
	int r = strcmp(a->resource, resource);

	return r ? r : strcmp(a->id, id);
}

static int pod_list_compare(const void *a, const void *b)
{
	const struct pod_device *x = a, *y = b;
	int r = by_device(x, y->resource, y->id);

	if (r == 0)
		r = strcmp(x->namespace, y->namespace);
	if (r == 0)
		r = strcmp(x->pod, y->pod);
	if (r == 0)
		r = strcmp(x->uid, y->uid);
	return r ? r : strcmp(x->container, y->container);
}

void pod_list_sort(struct pod_list *l)
{
	if (l->n)
		qsort(l->devices, l->n, sizeof(*l->devices), pod_list_compare);
}

bool pod_list_equal(const struct pod_list *a, const struct pod_list *b)
{
	if (a->n != b->n || a->source != b->source)
		return false;
	return !any_of(a->n, i,
		       pod_list_compare(&a->devices[i], &b->devices[i]) != 0 ||
			       a->devices[i].stale != b->devices[i].stale);
}

/* Returns the index of the first entry that does not sort before the device. */
static size_t pod_list_place_of(const struct pod_list *l, const char *resource, const char *id)
{
	return lower_bound(l->n, i, by_device(&l->devices[i], resource, id) < 0);
}

const struct pod_device *pod_list_find(const struct pod_list *l, const char *resource,
				       const char *id, size_t *ret_n)
{
	size_t low = pod_list_place_of(l, resource, id), end;

	for (end = low; end < l->n && by_device(&l->devices[end], resource, id) == 0;)
		end++;
	if (ret_n)
		*ret_n = end - low;
	return end > low ? &l->devices[low] : NULL;
}

void pod_list_remove(struct pod_list *l, const char *resource, const char *id)
{
	size_t n;
	const struct pod_device *first = pod_list_find(l, resource, id, &n);
	size_t at = first ? (size_t)(first - l->devices) : 0;

	if (!first)
		return;
	memmove(&l->devices[at], &l->devices[at + n], (l->n - at - n) * sizeof(*l->devices));
	l->n -= n;
}

static bool is_place(const struct pod_list *l, size_t at, const char *resource, const char *id)
{
	return at <= l->n && (at == l->n || by_device(&l->devices[at], resource, id) >= 0) &&
	       (at == 0 || by_device(&l->devices[at - 1], resource, id) < 0);
}

const struct pod_device *pod_list_find_other(const struct pod_list *l, const char *resource,
					     const char *id)
{
	return find_first(l->devices, l->n, i,
			  (l->devices[i].pod[0] || l->devices[i].uid[0]) &&
				  strcmp(l->devices[i].id, id) == 0 &&
				  strcmp(l->devices[i].resource, resource) != 0);
}

const struct pod_device *pod_list_find_next(const struct pod_list *l, const char *resource,
					    const char *id, size_t *at)
{
	const struct pod_device *found;

	if (!is_place(l, *at, resource, id))
		*at = pod_list_place_of(l, resource, id);
	found = *at < l->n ? &l->devices[*at] : NULL;
	if (!found || by_device(found, resource, id) != 0)
		return NULL;
	while (*at < l->n && by_device(&l->devices[*at], resource, id) == 0)
		++*at;
	return found;
}

void pod_list_mark_stale(struct pod_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		l->devices[i].stale = true;
}

int pod_list_add_stale(struct pod_list *l, const struct pod_list *before)
{
	size_t n_named = l->n;
	int n = 0;

	for (size_t i = 0; i < before->n; i++) {
		const struct pod_list named = {.devices = l->devices, .n = n_named};
		const struct pod_device *d = &before->devices[i];

		if (!d->stale || pod_list_find(&named, d->resource, d->id, NULL))
			continue;
		if (pod_list_push(l, d) < 0)
			return -ENOMEM;
		n++;
	}
	pod_list_sort(l);
	return n;
}
