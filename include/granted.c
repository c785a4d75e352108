#include "granted.h"

#include <stdlib.h>

static void free_texts(char **texts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(texts[i]);
	free(texts);
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
