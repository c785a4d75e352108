#include "resource_index.h"

#include <stdlib.h>
#include <string.h>

static int by_function(const void *a, const void *b)
{
	const struct resource_entry *x = a, *y = b;
	int r = strcmp(x->function, y->function);

	return r ? r : (x->resource > y->resource) - (x->resource < y->resource);
}

static void add_entries(struct resource_index *index, const struct resource_info *r)
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
		add_entries(index, &t->resources[i]);
	qsort(index->entries, index->n, sizeof(*index->entries), by_function);
	return index;
}

void resource_index_free(struct resource_index *index)
{
	if (!index)
		return;
	free(index->entries);
	free(index);
}

/* The place of the first entry of a function, or of what stands behind it. */
static size_t first_of(const struct resource_index *index, const char *function)
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
	size_t first = first_of(index, function), end = first;

	while (end < index->n && strcmp(index->entries[end].function, function) == 0)
		end++;
	*ret_n = end - first;
	return index->entries + first;
}
