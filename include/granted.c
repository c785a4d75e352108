// SPDX-License-Identifier: Apache-2.0
#include "granted.h"

#include <stdlib.h>
#include <string.h>

#include "search.h"

static void free_texts(char **texts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(texts[i]);
	free(texts);
}

static bool granted_has_id(const struct granted *g, const char *id)
{
	return any_of(g->n_ids, i, strcmp(g->ids[i], id) == 0);
}

bool granted_has_no_network(const struct granted_list *l, const char *resource, const char *id,
			    uint64_t reserved_ms)
{
	for (size_t i = 0; i < l->n && reserved_ms <= l->read_ms; i++)
		if (l->items[i].no_network && strcmp(l->items[i].resource, resource) == 0 &&
		    granted_has_id(&l->items[i], id))
			return true;
	return false;
}

void granted_list_done(struct granted_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->items[i].uid);
		free(l->items[i].resource);
		free_texts(l->items[i].ids, l->items[i].n_ids);
		free_texts(l->items[i].nodes, l->items[i].n_nodes);
	}
	free(l->items);
	*l = (struct granted_list){0};
}
