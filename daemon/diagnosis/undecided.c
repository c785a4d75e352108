// SPDX-License-Identifier: Apache-2.0
#include "undecided.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fnv.h"

#define ROOM_STEP 16

static bool has_items(const struct undecided_list *l, const struct undecided *items, size_t n)
{
	return l->n == n && memcmp(l->items, items, n * sizeof(*items)) == 0;
}

static struct undecided_list *undecided_find(const struct undecided_lists *all, uint64_t digest,
					     const struct undecided *items, size_t n)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->lists[i]->digest == digest && has_items(all->lists[i], items, n))
			return all->lists[i];
	return NULL;
}

/* Adds an item. NULL: out of memory. */
static struct undecided_list *undecided_add(struct undecided_lists *all, uint64_t digest,
					    const struct undecided *items, size_t n)
{
	struct undecided_list *l;

	if (all->n == all->room) {
		void *more = reallocarray(all->lists, all->room + ROOM_STEP, sizeof(void *));

		if (!more)
			return NULL;
		all->lists = more;
		all->room += ROOM_STEP;
	}
	l = malloc(sizeof(*l) + n * sizeof(*items));
	if (!l)
		return NULL;
	*l = (struct undecided_list){.digest = digest, .n = n};
	memcpy(l->items, items, n * sizeof(*items));
	all->lists[all->n++] = l;
	return l;
}

int undecided_set(struct undecided_lists *all, struct undecided_list **list,
		  const struct undecided *items, size_t n)
{
	uint64_t digest;

	if (*list ? has_items(*list, items, n) : n == 0)
		return 0;
	if (*list)
		(*list)->n_users--;
	*list = NULL;
	if (n == 0)
		return 0;
	digest = fnv1a(FNV1A_START, items, n * sizeof(*items));
	*list = undecided_find(all, digest, items, n);
	if (!*list)
		*list = undecided_add(all, digest, items, n);
	if (!*list)
		return -ENOMEM;
	(*list)->n_users++;
	return 0;
}

void undecided_sweep(struct undecided_lists *all)
{
	size_t kept = 0;

	for (size_t i = 0; i < all->n; i++)
		if (all->lists[i]->n_users > 0)
			all->lists[kept++] = all->lists[i];
		else
			free(all->lists[i]);
	all->n = kept;
}

void undecided_done(struct undecided_lists *all)
{
	for (size_t i = 0; i < all->n; i++)
		free(all->lists[i]);
	free(all->lists);
	*all = (struct undecided_lists){0};
}

void undecided_text(const struct undecided *u, char ret[UNDECIDED_SIZE])
{
	if (u->missing >= 0)
		snprintf(ret, UNDECIDED_SIZE, "%s %s", series_name((enum series)u->missing),
			 u->why);
	else
		snprintf(ret, UNDECIDED_SIZE, "%s", u->why);
}
