// SPDX-License-Identifier: Apache-2.0
/* pool_config_keep.c - finds the resources in use whose new definition was rejected, and inserts
 * their previous pools into the new configuration. Pure. */
#include "array.h"
#include "cleanup.h"
#include "pool_parse.h"
#include "search.h"

#define NO_REFUSAL SIZE_MAX

/* Maps each pool in use to the refusal that keeps it. */
struct keep {
	const struct pool_config *new, *used;
	size_t *because;
};

static bool is_resource(const struct pool *pool, const char *resource)
{
	char name[RESOURCE_NAME_SIZE];

	pool_resource(pool, name);
	return strcmp(name, resource) == 0;
}

static bool is_not_redefined(const struct keep *k, const struct pool *used)
{
	char name[RESOURCE_NAME_SIZE];

	pool_resource(used, name);
	return !any_of(k->new->n_pools, i, is_resource(&k->new->pools[i], name));
}

typedef bool matches_fn(const struct keep *, const struct pool_refusal *, const struct pool *used);

/* True if the refusal names the resource, even if the file also has a valid definition of it: it is
 * unknown which of the two is right. */
static bool matches_resource(const struct keep *k, const struct pool_refusal *r,
			     const struct pool *used)
{
	(void)k;
	return r->resource[0] && is_resource(used, r->resource);
}

static bool matches_resource_name(const struct keep *k, const struct pool_refusal *r,
				  const struct pool *used)
{
	return !r->resource[0] && strcmp(r->name, used->name) == 0 && is_not_redefined(k, used);
}

/* True if the resource has a second, valid definition: one of the two may be meant for another
 * resource. */
static bool is_defined_twice(const struct keep *k, const struct pool_refusal *r)
{
	return any_of(k->new->n_pools, i, is_resource(&k->new->pools[i], r->resource));
}

static bool matches_any(const struct keep *k, const struct pool_refusal *r, const struct pool *used)
{
	return (!r->name[0] || is_defined_twice(k, r)) && is_not_redefined(k, used);
}

/* Assigns refusals with a full name first, then those with a name only, then the others. */
static void keep_assign(struct keep *k)
{
	static matches_fn *const matches[] = {matches_resource, matches_resource_name, matches_any};
	const struct pool_refusals *refusals = &k->new->refusals;

	for (size_t i = 0; i < k->used->n_pools; i++)
		k->because[i] = NO_REFUSAL;
	for (size_t m = 0; m < ARRAY_SIZE(matches); m++)
		for (size_t r = 0; r < refusals->n; r++)
			for (size_t i = 0; i < k->used->n_pools; i++)
				if (k->because[i] == NO_REFUSAL &&
				    matches[m](k, &refusals->list[r], &k->used->pools[i]))
					k->because[i] = r;
}

/* Adds a copy of the refusal for the kept pool; NULL: it keeps none. */
static int add_rejection(struct pool_config *out, const struct pool_refusal *from,
			 const struct pool *kept)
{
	struct pool_refusal *slot = array_push(out->refusals.list, out->refusals.n);

	if (!slot)
		return -ENOMEM;
	*slot = *from;
	slot->kept = kept != NULL;
	if (kept)
		pool_resource(kept, slot->resource);
	return 0;
}

static int add_copy(struct pool_config *out, const struct pool *pool, unsigned line)
{
	struct pool copy = {.name = NULL}, *slot;
	int r = pool_copy(&copy, pool);

	if (r < 0)
		return r;
	slot = array_push(out->pools, out->n_pools);
	if (!slot) {
		pool_done(&copy);
		return -ENOMEM;
	}
	*slot = copy;
	slot->line = line;
	return 0;
}

static int add_kept(const struct keep *k, size_t refusal, struct pool_config *out)
{
	const struct pool_refusal *from = &k->new->refusals.list[refusal];
	bool any = false;
	int r = 0;

	for (size_t i = 0; i < k->used->n_pools && r == 0; i++) {
		if (k->because[i] != refusal)
			continue;
		any = true;
		r = add_copy(out, &k->used->pools[i], 0);
		if (r == 0)
			r = add_rejection(out, from, &k->used->pools[i]);
	}
	return r < 0 || any ? r : add_rejection(out, from, NULL);
}

static bool is_kept(const struct keep *k, const struct pool *pool)
{
	char name[RESOURCE_NAME_SIZE];

	pool_resource(pool, name);
	return any_of(k->used->n_pools, i,
		      k->because[i] != NO_REFUSAL && is_resource(&k->used->pools[i], name));
}

/* Merges both configurations in the file's order, with the kept pools in the place of the rejected
 * text. */
static int keep_merge(const struct keep *k, struct pool_config *out)
{
	const struct pool_refusals *refusals = &k->new->refusals;
	size_t next = 0;
	int r = 0;

	for (size_t i = 0; i <= k->new->n_pools &&r == 0; i++) {
		while (r == 0 && next < refusals->n && refusals->list[next].before == i)
			r = add_kept(k, next++, out);
		if (r == 0 && i < k->new->n_pools && !is_kept(k, &k->new->pools[i]))
			r = add_copy(out, &k->new->pools[i], k->new->pools[i].line);
	}
	return r;
}

static int keep_rejected(struct pool_config *c, const struct pool_config *used, struct err *e)
{
	struct keep k = {.new = c, .used = used};
	struct pool_config merged = {.mistake = c->mistake};
	int r;

	if (c->refusals.n == 0)
		return 0;
	k.because = calloc(used->n_pools + 1, sizeof(*k.because));
	if (!k.because)
		return err_set(e, -ENOMEM, "out of memory");
	keep_assign(&k);
	r = keep_merge(&k, &merged);
	free(k.because);
	if (r == 0 && merged.n_pools > POOLS_MAX)
		r = -E2BIG;
	if (r < 0) {
		pool_config_done(&merged);
		return err_set(e, r, "%s", r == -ENOMEM ? "out of memory" : "too many resources");
	}
	merged.idle = c->idle;
	c->idle = (struct pool_idles){0};
	pool_config_done(c);
	*c = merged;
	return 0;
}

/* Checks that no resource was removed by mistake. A removed resource is assumed to be removed on
 * purpose, unless there is a mistake that may explain it. */
static int check_mistake(const struct pool_config *c, const struct pool_config *used, struct err *e)
{
	const struct keep k = {.new = c, .used = used};
	bool named = c->n_pools > 0 || c->refusals.n > 0;
	char name[RESOURCE_NAME_SIZE];

	if (!c->mistake.why[0] || (c->mistake.weak && named))
		return 0;
	for (size_t i = 0; i < used->n_pools; i++) {
		if (!is_not_redefined(&k, &used->pools[i]))
			continue;
		pool_resource(&used->pools[i], name);
		return err_set(e, -EINVAL, "%.150s; %.80s would be withdrawn", c->mistake.why,
			       name);
	}
	return 0;
}

int pool_config_check_any(const struct pool_config *c, struct err *e)
{
	if (c->n_pools > 0)
		return 0;
	if (c->refusals.n > 0)
		return err_set(e, -EINVAL, "%.200s; no resource is left", c->refusals.list[0].why);
	if (c->mistake.why[0])
		return err_set(e, -EINVAL, "%.200s; no resource is configured", c->mistake.why);
	return 0;
}

int pool_config_keep(struct pool_config *c, const struct pool_config *used, struct err *e)
{
	int r = keep_rejected(c, used, e);

	if (r == 0)
		r = check_mistake(c, used, e);
	return r < 0 ? r : pool_config_check_any(c, e);
}

void pool_refusal_text(const struct pool_refusal *r, char ret[POOL_REFUSAL_TEXT])
{
	const char *name = r->name[0] ? r->name : "a resource";

	snprintf(ret, POOL_REFUSAL_TEXT, "%s %s: %s", r->resource[0] ? r->resource : name,
		 r->kept ? "keeps its previous definition" : "is left out", r->why);
}
