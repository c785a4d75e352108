#include "pending_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "address_hash.h"

int pending_table_init(struct pending_table *t)
{
	t->entries = calloc(PENDING_TABLE_SIZE, sizeof(t->entries[0]));
	return t->entries ? 0 : -ENOMEM;
}

void pending_table_done(struct pending_table *t)
{
	free(t->entries);
	t->entries = NULL;
}

static struct pending_entry *place_of(const struct pending_table *t,
				      const struct roce_pending_key *key)
{
	return &t->entries[address_hash(key, key->psn) % PENDING_TABLE_SIZE];
}

void pending_table_put(struct pending_table *t, const struct roce_pending_key *key,
		       const struct roce_pending *value)
{
	*place_of(t, key) = (struct pending_entry){*key, *value};
}

bool pending_table_take(struct pending_table *t, const struct roce_pending_key *key,
			struct roce_pending *ret)
{
	struct pending_entry *e = place_of(t, key);

	if (e->value.sent_ns == 0 || e->key.psn != key->psn ||
	    memcmp(&e->key, key, 2 * sizeof(key->requester)) != 0)
		return false;
	*ret = e->value;
	e->value.sent_ns = 0;
	return true;
}
