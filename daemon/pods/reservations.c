// SPDX-License-Identifier: Apache-2.0
/* reservations.c - one list of the allocated devices, and the time of each reservation in it.
 *
 * A list of the kubelet replaces ours. Our new list has its entries, and the reservations that are
 * too young to be in it. The reservation of an allocated device is kept until it is old enough,
 * because the kubelet's list may still have an init container that has ended. */
#include "reservations.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "search.h"

struct reservation {
	const char *resource; /* one of the names in struct reservations */
	char id[PLUGIN_ID_SIZE];
	uint64_t made_ms;
};

struct reservations {
	struct pod_list list;
	struct reservation *reserved; /* sorted by (id, resource) */
	size_t n_reserved;
	char **resources; /* names of all resources that had reservations */
	size_t n_resources;
	uint64_t generation;
};

struct reservations *reservations_new(void)
{
	return calloc(1, sizeof(struct reservations));
}

void reservations_free(struct reservations *l)
{
	if (!l)
		return;
	pod_list_done(&l->list);
	free(l->reserved);
	for (size_t i = 0; i < l->n_resources; i++)
		free(l->resources[i]);
	free(l->resources);
	free(l);
}

/* Returns our own copy of the name; NULL: out of memory. */
static const char *reservations_name_of(struct reservations *l, const char *resource)
{
	char **name;

	for (size_t i = 0; i < l->n_resources; i++)
		if (strcmp(l->resources[i], resource) == 0)
			return l->resources[i];
	name = array_push(l->resources, l->n_resources);
	if (!name)
		return NULL;
	*name = strdup(resource);
	l->n_resources -= *name == NULL;
	return *name;
}

/* Returns the index of the reservation, or where it would be inserted. Compares IDs first, because
 * they differ sooner than resources. */
static size_t reservations_place_of(const struct reservations *l, const char *resource,
				    const char *id)
{
	size_t low = 0, high = l->n_reserved;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int r = strcmp(l->reserved[mid].id, id);

		if (r < 0 || (r == 0 && strcmp(l->reserved[mid].resource, resource) < 0))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct reservation *reservations_find(const struct reservations *l, const char *resource,
					     const char *id)
{
	size_t at = reservations_place_of(l, resource, id);

	if (at == l->n_reserved || strcmp(l->reserved[at].id, id) != 0 ||
	    strcmp(l->reserved[at].resource, resource) != 0)
		return NULL;
	return &l->reserved[at];
}

static bool is_behind(const struct pod_device *d, const char *resource, const char *id)
{
	int r = strcmp(d->resource, resource);

	return r ? r > 0 : strcmp(d->id, id) > 0;
}

/* Inserts an entry without a pod; the list stays sorted. */
static int list_insert(struct pod_list *list, const char *resource, const char *id)
{
	struct pod_device entry = {.resource = resource, .id = id}, *d;

	if (pod_list_push(list, &entry) < 0)
		return -ENOMEM;
	d = &list->devices[list->n - 1];
	entry = *d;
	while (d > list->devices && is_behind(d - 1, resource, id))
		d--;
	memmove(d + 1, d, (size_t)(&list->devices[list->n - 1] - d) * sizeof(*d));
	*d = entry;
	return 0;
}

/* Returns the entries of an ID, one for every container that has it. */
static struct pod_device *entries(struct reservations *l, const char *resource, const char *id,
				  size_t *ret_n)
{
	const struct pod_device *first = pod_list_find(&l->list, resource, id, ret_n);

	return first ? &l->list.devices[first - l->list.devices] : NULL;
}

static void stamp(struct reservations *l, const char *resource, const char *id, uint64_t now_ms)
{
	size_t n;
	struct pod_device *d = entries(l, resource, id, &n);

	for (size_t i = 0; i < n; i++) {
		d[i].reserved_ms = now_ms;
		d[i].start_ms = 0;
	}
}

static void stamp_start(struct reservations *l, const char *resource, const char *id, uint64_t ms)
{
	size_t n;
	struct pod_device *d = entries(l, resource, id, &n);

	for (size_t i = 0; i < n; i++)
		d[i].start_ms = ms;
}

/* Adds a reservation. The array has room for it; resource is one of our names. */
static void note(struct reservations *l, const char *resource, const char *id, uint64_t now_ms)
{
	size_t at = reservations_place_of(l, resource, id);
	struct reservation *r = &l->reserved[at];

	memmove(r + 1, r, (l->n_reserved++ - at) * sizeof(*r));
	*r = (struct reservation){.resource = resource, .made_ms = now_ms};
	snprintf(r->id, sizeof(r->id), "%s", id);
}

static int reservation_add(struct reservations *l, const char *resource, const char *id,
			   uint64_t now_ms)
{
	struct reservation *r = reservations_find(l, resource, id);

	if (r) {
		r->made_ms = now_ms;
		return 0;
	}
	resource = reservations_name_of(l, resource);
	if (!resource || !array_push(l->reserved, l->n_reserved))
		return -ENOMEM;
	l->n_reserved--;
	if (!pod_list_find(&l->list, resource, id, NULL)) {
		if (list_insert(&l->list, resource, id) < 0)
			return -ENOMEM;
		l->generation++;
	}
	note(l, resource, id, now_ms);
	return 0;
}

/* Leaves one entry without a pod; the next list adds the pod. Allocates no memory. */
static void forget_holders(struct reservations *l, const char *resource, const char *id)
{
	size_t n;
	struct pod_device *d = entries(l, resource, id, &n);

	if (n == 1 && !d->pod[0] && !d->uid[0])
		return;
	*d = (struct pod_device){.namespace = "",
				 .pod = "",
				 .container = "",
				 .uid = "",
				 .resource = d->resource,
				 .id = d->id};
	memmove(d + 1, d + n, (size_t)(&l->list.devices[l->list.n] - (d + n)) * sizeof(*d));
	l->list.n -= n - 1;
	l->generation++;
}

int reservations_add(struct reservations *l, const char *resource, const char *id, uint64_t now_ms)
{
	if (reservation_add(l, resource, id, now_ms) < 0)
		return -ENOMEM;
	forget_holders(l, resource, id);
	stamp(l, resource, id, now_ms);
	return 0;
}

int reservations_note_start(struct reservations *l, const char *resource, const char *id,
			    uint64_t now_ms)
{
	if (!pod_list_find(&l->list, resource, id, NULL) &&
	    reservation_add(l, resource, id, now_ms) < 0)
		return -ENOMEM;
	stamp_start(l, resource, id, now_ms);
	return 0;
}

void reservations_note_end(struct reservations *l, const char *resource, const char *id)
{
	stamp_start(l, resource, id, 0);
}

/* True if a list requested at that time shows the outcome of this reservation. */
static bool is_settled(const struct reservation *r, uint64_t asked_ms)
{
	return asked_ms >= r->made_ms && asked_ms - r->made_ms >= RESERVATION_GRACE_MS;
}

/* Copies the list without IDs that were allocated after it was requested: for these it names the
 * previous owner. */
static int reservations_copy(const struct reservations *l, struct pod_list *ret,
			     const struct pod_list *from, uint64_t asked_ms)
{
	int r = pod_list_copy(ret, from);

	pod_list_sort(ret);
	for (size_t i = 0; i < l->n_reserved; i++)
		if (l->reserved[i].made_ms > asked_ms)
			pod_list_remove(ret, l->reserved[i].resource, l->reserved[i].id);
	return r;
}

static bool reservations_is_named(const struct pod_list *given, const struct pod_device *d)
{
	return pod_list_find(given, d->resource, d->id, NULL);
}

/* True if the device has no pod in our list, or is reserved. */
static bool is_unnamed(const struct reservations *l, const struct pod_device *d)
{
	return d->pod[0] == '\0' || reservations_find(l, d->resource, d->id);
}

bool reservations_need_checkpoint(const struct reservations *l, const struct pod_list *given)
{
	return any_of(l->list.n, i,
		      is_unnamed(l, &l->list.devices[i]) &&
			      !reservations_is_named(given, &l->list.devices[i]));
}

/* Adds the devices of init containers. */
static int add_from_checkpoint(const struct reservations *l, struct pod_list *list,
			       const struct pod_list *given, const struct pod_list *checkpoint)
{
	int r = 0;

	for (size_t i = 0; i < checkpoint->n && r == 0; i++) {
		const struct pod_device *d = &checkpoint->devices[i];
		const struct pod_device *own = pod_list_find(&l->list, d->resource, d->id, NULL);

		if (own && is_unnamed(l, own) && !reservations_is_named(given, d))
			r = pod_list_push(list, d);
	}
	pod_list_sort(list);
	return r;
}

static int add_unsettled(const struct reservations *l, struct pod_list *list, uint64_t asked_ms)
{
	for (size_t i = 0; i < l->n_reserved; i++) {
		const struct reservation *r = &l->reserved[i];

		if (is_settled(r, asked_ms) || pod_list_find(list, r->resource, r->id, NULL))
			continue;
		if (list_insert(list, r->resource, r->id) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Copies the times of the previous list, because the kubelet's list does not have them. */
static void keep_times(struct pod_list *list, const struct pod_list *before)
{
	for (size_t i = 0; i < list->n; i++) {
		struct pod_device *d = &list->devices[i];
		const struct pod_device *old = pod_list_find(before, d->resource, d->id, NULL);

		d->reserved_ms = old ? old->reserved_ms : 0;
		d->start_ms = old ? old->start_ms : 0;
	}
}

static void drop_settled(struct reservations *l, uint64_t asked_ms)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n_reserved; i++)
		if (!is_settled(&l->reserved[i], asked_ms))
			l->reserved[n++] = l->reserved[i];
	l->n_reserved = n;
}

int reservations_apply(struct reservations *l, const struct pod_list *given,
		       const struct pod_list *checkpoint, uint64_t asked_ms)
{
	struct pod_list list = {0};
	bool changed;

	if (given->source == POD_SOURCE_NONE || asked_ms < l->list.asked_ms)
		return 0;
	if (reservations_copy(l, &list, given, asked_ms) < 0 ||
	    add_from_checkpoint(l, &list, given, checkpoint) < 0 ||
	    add_unsettled(l, &list, asked_ms) < 0) {
		pod_list_done(&list);
		return -ENOMEM;
	}
	keep_times(&list, &l->list);
	l->list.asked_ms = list.asked_ms = asked_ms;
	drop_settled(l, asked_ms);
	changed = !pod_list_equal(&list, &l->list);
	pod_list_done(changed ? &l->list : &list);
	if (changed)
		l->list = list;
	l->generation += changed;
	return changed;
}

uint64_t reservations_request_at(const struct reservations *l)
{
	uint64_t at = UINT64_MAX;

	for (size_t i = 0; i < l->n_reserved; i++)
		if (l->reserved[i].made_ms + RESERVATION_GRACE_MS < at)
			at = l->reserved[i].made_ms + RESERVATION_GRACE_MS;
	return at;
}

/* Returns the state of an entry. An entry that exists only by a reservation has no pod and no uid.
 * An entry from the kubelet's list has a pod but no uid. An entry from the checkpoint has a uid. */
static enum reservation_state state_of(const struct reservations *l, const struct pod_device *d)
{
	if (!d)
		return RESERVATION_FREE;
	if (d->uid[0])
		return l->list.source == POD_SOURCE_API ? RESERVATION_RESERVED : RESERVATION_HELD;
	return d->pod[0] == '\0' && reservations_find(l, d->resource, d->id) ? RESERVATION_RESERVED
									     : RESERVATION_HELD;
}

enum reservation_state reservations_state(const struct reservations *l, const char *resource,
					  const char *id)
{
	return state_of(l, pod_list_find(&l->list, resource, id, NULL));
}

enum reservation_state reservations_state_next(const struct reservations *l, const char *resource,
					       const char *id, size_t *at)
{
	return state_of(l, pod_list_find_next(&l->list, resource, id, at));
}

const struct pod_list *reservations_list(const struct reservations *l)
{
	return &l->list;
}

uint64_t reservations_generation(const struct reservations *l)
{
	return l->generation;
}
