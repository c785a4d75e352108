// SPDX-License-Identifier: Apache-2.0
#include "resource_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void resource_table_done(struct resource_table *t)
{
	free(t->resources);
	free(t->devices);
	free(t->members);
	free(t->not_offered);
	pod_list_done(&t->held);
	*t = (struct resource_table){0};
}

/* Copies an array that may be empty; false: out of memory. */
static bool resource_copy_array(void *ret, const void *src, size_t n, size_t size)
{
	void *copy = n ? reallocarray(NULL, n, size) : NULL;

	if (n && !copy)
		return false;
	if (n)
		memcpy(copy, src, n * size);
	*(void **)ret = copy;
	return true;
}

#define COPY(field, count)                                                                         \
	resource_copy_array(&copy.field, src->field, src->count, sizeof(*src->field))

int resource_table_copy(struct resource_table *dst, const struct resource_table *src)
{
	struct resource_table copy = *src;

	copy.resources = NULL;
	copy.devices = NULL;
	copy.members = NULL;
	copy.not_offered = NULL;
	copy.held = (struct pod_list){0};
	if (COPY(resources, n_resources) && COPY(devices, n_devices) && COPY(members, n_members) &&
	    COPY(not_offered, n_not_offered) && pod_list_copy(&copy.held, &src->held) == 0) {
		*dst = copy;
		return 0;
	}
	resource_table_done(&copy);
	return -ENOMEM;
}

static bool resource_is_id(const char *id, const char *name)
{
	return *name != '\0' && strcmp(id, name) == 0;
}

static bool is_same_pod(const struct pod_device *a, const struct pod_device *b)
{
	return strcmp(a->pod, b->pod) == 0 && strcmp(a->namespace, b->namespace) == 0 &&
	       strcmp(a->uid, b->uid) == 0;
}

const struct pod_device *resource_table_holder(const struct resource_table *t, const char *function,
					       const char *rdma)
{
	const struct pod_device *found = NULL;

	for (size_t i = 0; i < t->held.n; i++) {
		const struct pod_device *d = &t->held.devices[i];

		if (!resource_is_id(d->id, function) && !resource_is_id(d->id, rdma))
			continue;
		if (!(d->pod[0] || d->uid[0]) || (found && !is_same_pod(found, d)))
			return NULL;
		found = found ? found : d;
	}
	return found;
}

static bool is_numbered(const char *id, const char *rdma)
{
	size_t len = strlen(rdma);

	return len > 0 && strncmp(id, rdma, len) == 0 && id[len] == '-' && id[len + 1] &&
	       id[len + 1 + strspn(id + len + 1, "0123456789")] == '\0';
}

bool resource_table_is_slot(const struct resource_table *t, const struct pod_device *d,
			    const char *function, const char *rdma)
{
	if (is_numbered(d->id, rdma))
		return true;
	for (size_t i = 0; i < t->n_resources; i++) {
		const struct resource_info *r = &t->resources[i];

		if (r->shared && r->n_members == 1 &&
		    strcmp(t->members[r->first_member], function) == 0 &&
		    strcmp(r->name, d->resource) == 0)
			return true;
	}
	return false;
}

static int not_offered_by_function(const void *key, const void *entry)
{
	return strcmp(key, ((const struct not_offered *)entry)->function);
}

const struct not_offered *resource_table_why(const struct resource_table *t, const char *function)
{
	return t->n_not_offered ? bsearch(function, t->not_offered, t->n_not_offered,
					  sizeof(*t->not_offered), not_offered_by_function)
				: NULL;
}

/* --- the resources of a function -------------------------------------------------------------- */

static int entry_order(const void *a, const void *b)
{
	const struct resource_entry *x = a, *y = b;
	int r = strcmp(x->function, y->function);

	return r ? r : (x->resource > y->resource) - (x->resource < y->resource);
}

static void resource_add_entries(struct resource_index *index, const struct resource_info *r)
{
	const struct resource_table *t = index->table;

	for (size_t i = 0; !r->shared && i < r->n_devices; i++) {
		const struct resource_device *d = &t->devices[r->first_device + i];

		index->entries[index->n++] = (struct resource_entry){d->id, r, d};
	}
	for (size_t i = 0; r->shared && i < r->n_members; i++)
		index->entries[index->n++] = (struct resource_entry){
			t->members[r->first_member + i], r, NULL};
}

struct resource_index *resource_index_new(const struct resource_table *t)
{
	struct resource_index *index = calloc(1, sizeof(*index));

	if (!index)
		return NULL;
	index->table = t;
	index->entries = calloc(t->n_devices + t->n_members + 1, sizeof(*index->entries));
	if (!index->entries) {
		free(index);
		return NULL;
	}
	for (size_t i = 0; i < t->n_resources; i++)
		resource_add_entries(index, &t->resources[i]);
	qsort(index->entries, index->n, sizeof(*index->entries), entry_order);
	return index;
}

void resource_index_free(struct resource_index *index)
{
	if (!index)
		return;
	free(index->entries);
	free(index);
}

/* Returns the index of the first entry of a function, or where it would be. */
static size_t entries_from(const struct resource_index *index, const char *function)
{
	size_t low = 0, high = index->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(index->entries[mid].function, function) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct resource_entry *resource_index_find(const struct resource_index *index,
						 const char *function, size_t *ret_n)
{
	size_t first = entries_from(index, function), end = first;

	while (end < index->n && strcmp(index->entries[end].function, function) == 0)
		end++;
	*ret_n = end - first;
	return index->entries + first;
}

void resource_table_count(const struct resource_table *t, const struct resource_info *r,
			  struct resource_counts *ret)
{
	*ret = (struct resource_counts){0};
	for (size_t i = 0; i < r->n_devices; i++) {
		const struct resource_device *d = &t->devices[r->first_device + i];

		ret->healthy += d->reasons == 0;
		ret->allocated += d->state != RESERVATION_FREE;
		ret->free += d->reasons == 0 && d->state == RESERVATION_FREE;
	}
	if (r->shared && r->gid_capacity && ret->free + ret->allocated > r->gid_capacity)
		ret->free = r->gid_capacity > ret->allocated ? r->gid_capacity - ret->allocated : 0;
	if (r->registration != REGISTRATION_DONE || r->files_error[0])
		ret->free = 0;
	ret->allocated_known = t->held.source != POD_SOURCE_NONE;
	ret->free_known = ret->allocated_known || ret->free == 0;
}
