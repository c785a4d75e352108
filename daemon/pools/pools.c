// SPDX-License-Identifier: Apache-2.0
/* pools.c - matches every function with every pool, both in the order of their lists. A function
 * that is allocated to a container belongs to the pool that granted it, regardless of the other
 * pools. Offers are made when all members are known. */
#include "pools.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "exclusions.h"
#include "pool_slots.h"
#include "search.h"

typedef char resource_name[RESOURCE_NAME_SIZE];

struct build {
	const struct host_index *index;
	struct exclusions exclusions;
	const struct pod_list *held;
	resource_name *resources; /* one per pool */
	bool *allocated; /* matrix [function][pool]: a container holds the function from that pool
			  */
	struct pools *out;
};

/* --- allocations ------------------------------------------------------------------------------ */

static bool pools_is_exclusive(const struct pool *p)
{
	return p->kind == POOL_EXCLUSIVE;
}

/* Returns n_pools if no exclusive pool has that resource. */
static size_t granting_pool(const struct build *b, const struct pool_config *config,
			    const char *resource)
{
	size_t i = 0;

	while (i < config->n_pools &&
	       (!pools_is_exclusive(&config->pools[i]) || strcmp(b->resources[i], resource) != 0))
		i++;
	return i;
}

/* Finds the allocations to containers. The list is sorted by resource, so each resource is looked
 * up once. */
static int find_allocated(struct build *b, const struct pool_config *config)
{
	const struct host *h = b->index->host;
	size_t n = b->out->n_views, pool = n;

	b->allocated = calloc(h->n_functions * n + 1, sizeof(*b->allocated));
	if (!b->allocated)
		return -ENOMEM;
	for (size_t i = 0; i < b->held->n; i++) {
		const struct pod_device *d = &b->held->devices[i];
		const struct function *fn;

		if (i == 0 || strcmp(d->resource, d[-1].resource) != 0)
			pool = granting_pool(b, config, d->resource);
		fn = pool < n ? host_index_function(b->index, d->id) : NULL;
		if (fn)
			b->allocated[(size_t)(fn - h->functions) * n + pool] = true;
	}
	return 0;
}

/* True if a container has the function from this pool. */
static bool pools_is_held(const struct build *b, size_t pool, const struct function *fn)
{
	return b->allocated[(size_t)(fn - b->index->host->functions) * b->out->n_views + pool];
}

static bool is_allocated(const struct build *b, const struct function *fn)
{
	return any_of(b->out->n_views, i, pools_is_held(b, i, fn));
}

/* --- one function ----------------------------------------------------------------------------- */

/* Returns WHY_NOT_NONE if one of the pool's selectors matches, else the reason of the selector of
 * which the function passes the most tests. */
static enum why_not match(struct pool_view *v, const struct candidate *c)
{
	static const struct selector everything;
	const struct selector *list = v->pool->n_selectors ? v->pool->selectors : &everything;
	size_t n = v->pool->n_selectors ? v->pool->n_selectors : 1;
	enum why_not nearest = WHY_NOT_NONE, why;
	bool matches = false;

	for (size_t i = 0; i < n; i++) {
		why = pool_match(v->pool, &list[i], c);
		v->hits[i] += why == WHY_NOT_NONE;
		matches = matches || why == WHY_NOT_NONE;
		nearest = why > nearest ? why : nearest;
	}
	return matches ? WHY_NOT_NONE : nearest;
}

static int add_member(struct pool_view *v, const char *function)
{
	char(*member)[DEV_ID_SIZE] = array_push(v->members, v->n_members);

	if (!member)
		return -ENOMEM;
	memcpy(*member, function, DEV_ID_SIZE);
	return 0;
}

/* State of one function while the pools are tried one after the other. */
struct placing {
	struct candidate c;
	struct verdict *verdict;
	const struct pool *owner; /* the first pool that has it */
	bool allocated; /* allocated to a container, so only the pool that granted it may have it */
	bool wanted;	/* a pool would have it if it were not allocated */
	bool excluded;	/* it matched a pool, but was excluded from it */
};

static void note_nearest(struct verdict *v, const struct pool *p, enum why_not why)
{
	if (v->pool && why <= v->why)
		return;
	v->pool = p;
	v->why = why;
}

static bool may_join(const struct placing *pl, const struct pool *p)
{
	return !pl->allocated &&
	       (!pl->owner || (!pools_is_exclusive(pl->owner) && !pools_is_exclusive(p)));
}

static int view_join(struct placing *pl, struct pool_view *v, enum verdict_kind kind)
{
	if (!pl->owner) {
		pl->owner = v->pool;
		pl->verdict->kind = kind;
		pl->verdict->pool = v->pool;
		pl->verdict->why = WHY_NOT_NONE;
		pl->verdict->detail[0] = '\0';
	}
	return add_member(v, pl->c.self.fn->id);
}

/* Stores the reason as the pool's hint, with the text of the function's own line, in case the pool
 * stays empty. */
static void note_exclusion(struct pool_view *view, const char *function, const struct verdict *v)
{
	char text[sizeof(view->hint) - DEV_ID_SIZE - 8];

	if (view->hint[0])
		return;
	verdict_text(v, text, sizeof(text));
	snprintf(view->hint, sizeof(view->hint), "%s is %s", function, text);
}

/* True if the function is excluded from a pool that it matches. The first such reason becomes its
 * verdict, unless another pool has the function. */
static bool is_excluded(const struct build *b, struct placing *pl, struct pool_view *view)
{
	struct verdict v = {.pool = view->pool};
	bool excluded = exclusions_find(&b->exclusions, view->pool, &pl->c, pl->allocated, &v);

	if (excluded)
		note_exclusion(view, pl->verdict->function, &v);
	if (!excluded || pl->excluded || pl->owner)
		return excluded;
	memcpy(v.function, pl->verdict->function, sizeof(v.function));
	*pl->verdict = v;
	pl->excluded = true;
	return true;
}

static int pool_try(struct build *b, struct placing *pl, size_t pool)
{
	struct pool_view *v = &b->out->views[pool];
	enum why_not why = match(v, &pl->c);
	bool held = pl->allocated && pools_is_held(b, pool, pl->c.self.fn);
	bool fits = why == WHY_NOT_NONE && !is_excluded(b, pl, v);

	if (held)
		return view_join(pl, v, fits && !pl->wanted ? VERDICT_OFFERED : VERDICT_KEPT);
	pl->wanted = pl->wanted || fits;
	if (fits && may_join(pl, v->pool))
		return view_join(pl, v, VERDICT_OFFERED);
	v->n_taken += fits;
	if (why != WHY_NOT_NONE && !pl->owner && !pl->excluded)
		note_nearest(pl->verdict, v->pool, why);
	return 0;
}

static int place(struct build *b, const struct function *fn, struct verdict *verdict)
{
	struct placing pl = {.c = candidate_of(b->index, fn),
			     .verdict = verdict,
			     .allocated = is_allocated(b, fn)};

	memcpy(verdict->function, fn->id, sizeof(verdict->function));
	verdict->kind = VERDICT_NO_MATCH;
	for (size_t i = 0; i < b->out->n_views; i++) {
		int r = pool_try(b, &pl, i);

		if (r < 0)
			return r;
	}
	return 0;
}

/* --- offers ----------------------------------------------------------------------------------- */

static int offer_functions(struct pool_view *v, const struct host_index *ix)
{
	for (size_t i = 0; i < v->n_members; i++) {
		struct offer *o = array_push(v->offers, v->n_offers);

		if (!o)
			return -ENOMEM;
		memcpy(o->id, v->members[i], sizeof(o->id));
		o->first_member = i;
		o->n_members = 1;
		o->numa = pool_offer_numa(v, o, ix);
	}
	return 0;
}

/* Offers an allocated ID of an exclusive pool whose function was removed: if it is on the bus, it
 * is offered already. */
static int offer_removed(struct pool_view *v, struct offer *o)
{
	o->first_member = v->n_members;
	o->n_members = 1;
	o->gone = true;
	o->numa = -1;
	return add_member(v, o->id);
}

static bool is_offered(const struct pool_view *v, const struct host_index *ix, const char *id)
{
	return pools_is_exclusive(v->pool) ? host_index_function(ix, id) != NULL
					   : pool_view_offer(v, id) != NULL;
}

static int offer_held(struct build *b, struct pool_view *v, const struct pod_device *held)
{
	struct offer *o;

	if (is_offered(v, b->index, held->id))
		return 0;
	o = array_push(v->offers, v->n_offers);
	if (!o)
		return -ENOMEM;
	snprintf(o->id, sizeof(o->id), "%s", held->id);
	if (pools_is_exclusive(v->pool))
		return offer_removed(v, o);
	pool_slots_held(v, b->index, o);
	return 0;
}

/* Offers the pool's allocated IDs that it would not offer otherwise. One ID may be allocated to
 * several containers, but is offered once. */
static int offer_all_held(struct build *b, size_t pool)
{
	struct pool_view *v = &b->out->views[pool];
	const struct pod_device *last = NULL;

	for (size_t i = 0; i < b->held->n; i++) {
		const struct pod_device *d = &b->held->devices[i];
		int r;

		if (strcmp(d->resource, b->resources[pool]) != 0 ||
		    (last && strcmp(last->id, d->id) == 0))
			continue;
		last = d;
		r = offer_held(b, v, d);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Sets the hint of an empty pool. That another pool has the functions explains more than an
 * exclusion. */
static void explain_empty(const struct build *b, struct pool_view *v)
{
	if (v->n_members > 0)
		snprintf(v->hint, sizeof(v->hint), "%s",
			 v->n_offers ? "" : "the number of its slots is 0");
	else if (v->n_taken > 0)
		snprintf(v->hint, sizeof(v->hint), "another pool has the %zu matching device%s",
			 v->n_taken, v->n_taken == 1 ? "" : "s");
	else if (!v->hint[0])
		pool_hint(v->pool, b->index, v->hint, sizeof(v->hint));
}

static int make_offers(struct build *b)
{
	for (size_t i = 0; i < b->out->n_views; i++) {
		struct pool_view *v = &b->out->views[i];
		int r = pools_is_exclusive(v->pool) ? offer_functions(v, b->index)
						    : pool_slots_offer(v, b->index);

		explain_empty(b, v);
		if (r == 0)
			r = offer_all_held(b, i);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- all steps -------------------------------------------------------------------------------- */

static int make_views(struct build *b, const struct pool_config *config)
{
	b->resources = calloc(config->n_pools + 1, sizeof(*b->resources));
	b->out->views = calloc(config->n_pools + 1, sizeof(*b->out->views));
	if (!b->resources || !b->out->views)
		return -ENOMEM;
	for (size_t i = 0; i < config->n_pools; i++) {
		struct pool_view *v = &b->out->views[b->out->n_views++];

		v->pool = &config->pools[i];
		pool_resource(v->pool, b->resources[i]);
		v->hits = calloc(v->pool->n_selectors + 1, sizeof(*v->hits));
		if (!v->hits)
			return -ENOMEM;
	}
	return 0;
}

static int make_verdicts(struct build *b)
{
	const struct host *h = b->index->host;

	b->out->verdicts = calloc(h->n_functions + 1, sizeof(*b->out->verdicts));
	if (!b->out->verdicts)
		return -ENOMEM;
	for (size_t i = 0; i < h->n_functions; i++) {
		int r = place(b, &h->functions[i], &b->out->verdicts[b->out->n_verdicts++]);

		if (r < 0)
			return r;
	}
	return 0;
}

static int build_all(struct build *b, const struct pool_config *config)
{
	int r = make_views(b, config);

	if (r == 0)
		r = find_allocated(b, config);
	if (r == 0)
		r = exclusions_init(&b->exclusions, b->index, config, b->held);
	if (r == 0)
		r = make_verdicts(b);
	return r < 0 ? r : make_offers(b);
}

int pools_build(struct pools *ret, const struct pool_config *config, const struct host *host,
		const struct pod_list *held)
{
	static const struct pod_list nothing;
	struct host_index ix;
	struct build b = {.index = &ix, .held = held ? held : &nothing, .out = ret};
	int r = host_index_init(&ix, host);

	*ret = (struct pools){0};
	if (r < 0)
		return r;
	r = build_all(&b, config);
	if (r < 0)
		pools_done(ret);
	free(b.resources);
	free(b.allocated);
	exclusions_done(&b.exclusions);
	host_index_done(&ix);
	return r;
}

void pools_done(struct pools *p)
{
	for (size_t i = 0; i < p->n_views; i++) {
		free(p->views[i].members);
		free(p->views[i].offers);
		free(p->views[i].hits);
	}
	free(p->views);
	free(p->verdicts);
	*p = (struct pools){0};
}

const struct pool_view *pools_find(const struct pools *p, const char *resource)
{
	for (size_t i = 0; i < p->n_views; i++) {
		resource_name name;

		pool_resource(p->views[i].pool, name);
		if (strcmp(name, resource) == 0)
			return &p->views[i];
	}
	return NULL;
}

const struct offer *pool_view_offer(const struct pool_view *v, const char *id)
{
	return find_first(v->offers, v->n_offers, i, strcmp(v->offers[i].id, id) == 0);
}
