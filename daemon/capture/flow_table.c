// SPDX-License-Identifier: Apache-2.0
#include "flow_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "search.h"

/* Hashes two addresses (`addresses`, 32 bytes) and a number, so that keys that differ in few bits
 * have different hashes. A sender that causes collisions intentionally evicts only its own flows.
 */
static uint64_t address_hash(const void *addresses, uint32_t number)
{
	uint64_t h = number, words[4];

	memcpy(words, addresses, sizeof(words));
	for (size_t i = 0; i < 4; i++) {
		h = (h ^ words[i]) * 0x9e3779b97f4a7c15;
		h ^= h >> 32;
	}
	return h;
}

int flow_table_init(struct flow_table *t, size_t size)
{
	*t = (struct flow_table){.n_sets = size / FLOW_WAYS};
	t->entries = calloc(size, sizeof(t->entries[0]));
	return t->entries ? 0 : -ENOMEM;
}

void flow_table_done(struct flow_table *t)
{
	free(t->entries);
	*t = (struct flow_table){0};
}

static struct flow_entry *set_of(const struct flow_table *t, const struct roce_flow_key *key)
{
	return t->entries + (address_hash(key, key->qpn) & (t->n_sets - 1)) * FLOW_WAYS;
}

static bool same_key(const struct roce_flow_key *a, const struct roce_flow_key *b)
{
	return a->qpn == b->qpn && memcmp(a->saddr, b->saddr, sizeof(a->saddr)) == 0 &&
	       memcmp(a->daddr, b->daddr, sizeof(a->daddr)) == 0;
}

static struct flow_entry *flow_table_find_in(struct flow_entry *set,
					     const struct roce_flow_key *key)
{
	return find_first(set, FLOW_WAYS, i, set[i].used && same_key(&set[i].key, key));
}

struct roce_flow *flow_table_find(struct flow_table *t, const struct roce_flow_key *key)
{
	struct flow_entry *e = flow_table_find_in(set_of(t, key), key);

	return e ? &e->flow : NULL;
}

static struct flow_entry *flow_table_make_room(struct flow_table *t, struct flow_entry *set)
{
	struct flow_entry *oldest = set;

	for (size_t i = 1; i < FLOW_WAYS; i++)
		if (set[i].used < oldest->used)
			oldest = &set[i];
	if (oldest->used) {
		t->evictions++;
		t->evicted_packets += oldest->flow.packets;
	}
	t->inserts++;
	return oldest;
}

struct roce_flow *flow_table_get(struct flow_table *t, const struct roce_flow_key *key,
				 uint64_t now)
{
	struct flow_entry *set = set_of(t, key), *e = flow_table_find_in(set, key);

	if (!e) {
		e = flow_table_make_room(t, set);
		*e = (struct flow_entry){.key = *key};
	}
	e->used = now;
	return &e->flow;
}

/* Returns the number of problems in a flow: CE marks, CNPs, NAKs, RNR NAKs, retransmissions. */
static uint64_t flow_problems(const struct roce_flow *f)
{
	return f->ce + f->cnp + f->naks + f->rnr_naks + f->retransmissions;
}

static int flow_by_problems(const void *a, const void *b)
{
	const struct flow_entry *const *pa = a, *const *pb = b;
	const struct roce_flow *x = &(*pa)->flow, *y = &(*pb)->flow;
	uint64_t problems_x = flow_problems(x), problems_y = flow_problems(y);

	if (problems_x != problems_y)
		return problems_x < problems_y ? 1 : -1;
	if (x->packets != y->packets)
		return x->packets < y->packets ? 1 : -1;
	return (*pa > *pb) - (*pa < *pb);
}

size_t flow_table_top(const struct flow_table *t, const struct flow_entry **ret, size_t n)
{
	size_t size = t->n_sets * FLOW_WAYS, n_all = 0;
	const struct flow_entry **all = malloc((size ? size : 1) * sizeof(struct flow_entry *));

	for (size_t i = 0; all && i < size; i++)
		if (t->entries[i].used)
			all[n_all++] = &t->entries[i];
	if (n_all)
		qsort(all, n_all, sizeof(struct flow_entry *), flow_by_problems);
	n = n < n_all ? n : n_all;
	for (size_t i = 0; i < n; i++)
		ret[i] = all[i];
	free(all);
	return n;
}

/* --- requests waiting for an ACK -------------------------------------------------------------- */

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

static struct pending_entry *pending_entry_of(const struct pending_table *t,
					      const struct roce_pending_key *key)
{
	return &t->entries[address_hash(key, key->psn) % PENDING_TABLE_SIZE];
}

void pending_table_put(struct pending_table *t, const struct roce_pending_key *key,
		       const struct roce_pending *value)
{
	*pending_entry_of(t, key) = (struct pending_entry){*key, *value};
}

bool pending_table_take(struct pending_table *t, const struct roce_pending_key *key,
			struct roce_pending *ret)
{
	struct pending_entry *e = pending_entry_of(t, key);

	if (e->value.sent_ns == 0 || e->key.psn != key->psn ||
	    memcmp(&e->key, key, 2 * sizeof(key->requester)) != 0)
		return false;
	*ret = e->value;
	e->value.sent_ns = 0;
	return true;
}
