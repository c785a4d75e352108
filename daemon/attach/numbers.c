// SPDX-License-Identifier: Apache-2.0
#include "numbers.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "attach_events.h"
#include "search.h"

/* Does another attachment have this device node? An attachment that is returning counts, too, until
 * its return has ended. */
static bool has_number(const struct attachment *other, const struct attachment *a)
{
	return other != a && other->record.state != ATTACH_FREE && other->record.uverbs[0];
}

struct numbers {
	char (*items)[CHARDEV_NAME_SIZE];
	size_t n;
};

static int numbers_add(struct numbers *l, const char *uverbs)
{
	char(*at)[CHARDEV_NAME_SIZE] = array_push(l->items, l->n);

	if (!at)
		return -ENOMEM;
	snprintf(*at, sizeof(*at), "%.15s", uverbs);
	return 0;
}

static bool numbers_is_held(const struct pod_list *held, const struct granted *g)
{
	return any_of(g->n_ids, i, pod_list_find(held, g->resource, g->ids[i], NULL));
}

/* Adds the uverbs nodes of an Allocate answer of any plugin. These are devices other than
 * soft-RoCE. */
static int add_granted(struct numbers *l, const struct granted *g)
{
	static const char folder[] = "infiniband/uverbs";
	int r = 0;

	for (size_t i = 0; i < g->n_nodes && r == 0; i++)
		if (strncmp(g->nodes[i], folder, sizeof(folder) - 1) == 0)
			r = numbers_add(l, strchr(g->nodes[i], '/') + 1);
	return r;
}

int numbers_taken(const struct attach_engine *e, const struct attachment *a,
		  char (**ret)[CHARDEV_NAME_SIZE], size_t *ret_n)
{
	const struct granted_list *granted = e->ops->granted(e->holders);
	const struct pod_list *held = e->ops->held(e->holders);
	struct numbers l = {0};
	int r = 0;

	for (size_t i = 0; i < e->all.n && r == 0; i++)
		if (has_number(e->all.items[i], a))
			r = numbers_add(&l, e->all.items[i]->record.uverbs);
	for (size_t i = 0; i < granted->n && r == 0; i++)
		if (numbers_is_held(held, &granted->items[i]))
			r = add_granted(&l, &granted->items[i]);
	if (r < 0) {
		free(l.items);
		return r;
	}
	*ret = l.items;
	*ret_n = l.n;
	return 0;
}

int numbers_check(const struct attach_engine *e, const struct attachment *a, struct err *err)
{
	char owner[OWNER_TEXT_SIZE];

	for (size_t i = 0; i < e->all.n && a->record.uverbs[0]; i++) {
		const struct attachment *other = e->all.items[i];

		if (has_number(other, a) && strcmp(other->record.uverbs, a->record.uverbs) == 0)
			return err_set(err, -EBUSY,
				       "its soft-RoCE device got the device number of %s, which "
				       "containers of %s may open",
				       a->record.uverbs, owner_text(&other->record.owner, owner));
	}
	return 0;
}
