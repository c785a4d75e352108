/* pool_config_keep.c - what pools own, given back and copied; and resources in use whose new text
 * was refused: which are they, and where do they stand in the new configuration? Pure. */
#include "array.h"
#include "cleanup.h"
#include "pool_parse.h"

void pool_resource(const struct pool *pool, char ret[RESOURCE_NAME_SIZE])
{
	snprintf(ret, RESOURCE_NAME_SIZE, "%s/%s", pool->prefix, pool->name);
}

/* --- given back ------------------------------------------------------------------------------- */

/* The lists of a selector, to be gone through. */
static const size_t word_lists[] = {
	offsetof(struct selector, vendors),	 offsetof(struct selector, devices),
	offsetof(struct selector, drivers),	 offsetof(struct selector, pci_addresses),
	offsetof(struct selector, acpi_indexes), offsetof(struct selector, aux_types),
	offsetof(struct selector, if_names),	 offsetof(struct selector, link_types),
	offsetof(struct selector, pkeys),	 offsetof(struct selector, rdma_names),
};

static struct word_list *words_of(struct selector *s, size_t i)
{
	return (void *)((char *)s + word_lists[i]);
}

static void word_list_done(struct word_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->words[i]);
	free(list->words);
}

static void pf_selectors_done(struct pf_selectors *pfs)
{
	for (size_t i = 0; i < pfs->n; i++) {
		free(pfs->list[i].name);
		free(pfs->list[i].ranges);
	}
	free(pfs->list);
}

static void selector_done(struct selector *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(word_lists); i++)
		word_list_done(words_of(s, i));
	pf_selectors_done(&s->pf_names);
	pf_selectors_done(&s->root_devices);
}

void pool_done(struct pool *pool)
{
	free(pool->name);
	free(pool->prefix);
	for (size_t i = 0; i < pool->n_selectors; i++)
		selector_done(&pool->selectors[i]);
	free(pool->selectors);
	for (size_t i = 0; i < pool->n_extra; i++) {
		free(pool->extra[i].device);
		free(pool->extra[i].key);
		free(pool->extra[i].value);
	}
	free(pool->extra);
	free(pool->network);
}

void pool_config_done(struct pool_config *c)
{
	for (size_t i = 0; i < c->n_pools; i++)
		pool_done(&c->pools[i]);
	free(c->pools);
	free(c->refusals.list);
	memset(c, 0, sizeof(*c));
}

/* --- copied ----------------------------------------------------------------------------------- */

/* Each copies into what is zeroed; -ENOMEM leaves a part, which is given back with the pool. */
static int word_list_copy(struct word_list *ret, const struct word_list *list)
{
	int r = 0;

	for (size_t i = 0; i < list->n && r == 0; i++)
		r = word_list_add(ret, list->words[i]);
	return r;
}

static int pf_copy(struct pf_selector *ret, const struct pf_selector *pf)
{
	ret->name = strdup(pf->name);
	if (!ret->name)
		return -ENOMEM;
	for (size_t i = 0; i < pf->n_ranges; i++) {
		struct pf_range *range = array_push(ret->ranges, ret->n_ranges);

		if (!range)
			return -ENOMEM;
		*range = pf->ranges[i];
	}
	return 0;
}

static int pf_selectors_copy(struct pf_selectors *ret, const struct pf_selectors *pfs)
{
	int r = 0;

	for (size_t i = 0; i < pfs->n && r == 0; i++) {
		struct pf_selector *pf = array_push(ret->list, ret->n);

		r = pf ? pf_copy(pf, &pfs->list[i]) : -ENOMEM;
	}
	return r;
}

static int selector_copy(struct selector *ret, const struct selector *s)
{
	struct selector *from = (struct selector *)(uintptr_t)s;
	int r = 0;

	ret->is_rdma = s->is_rdma;
	ret->need_vhost_net = s->need_vhost_net;
	ret->vdpa = s->vdpa;
	for (size_t i = 0; i < ARRAY_SIZE(word_lists) && r == 0; i++)
		r = word_list_copy(words_of(ret, i), words_of(from, i));
	if (r == 0)
		r = pf_selectors_copy(&ret->pf_names, &s->pf_names);
	return r < 0 ? r : pf_selectors_copy(&ret->root_devices, &s->root_devices);
}

static int selectors_copy(struct pool *ret, const struct pool *pool)
{
	int r = 0;

	for (size_t i = 0; i < pool->n_selectors && r == 0; i++) {
		struct selector *s = array_push(ret->selectors, ret->n_selectors);

		r = s ? selector_copy(s, &pool->selectors[i]) : -ENOMEM;
	}
	return r;
}

static int extra_copy(struct pool *ret, const struct pool *pool)
{
	for (size_t i = 0; i < pool->n_extra; i++) {
		struct extra_info *extra = array_push(ret->extra, ret->n_extra);

		if (!extra)
			return -ENOMEM;
		extra->device = strdup(pool->extra[i].device);
		extra->key = strdup(pool->extra[i].key);
		extra->value = strdup(pool->extra[i].value);
		if (!extra->device || !extra->key || !extra->value)
			return -ENOMEM;
	}
	return 0;
}

static int network_copy(struct pool *ret, const struct pool *pool)
{
	if (!pool->network)
		return 0;
	ret->network = malloc(sizeof(*ret->network));
	if (!ret->network)
		return -ENOMEM;
	*ret->network = *pool->network;
	return 0;
}

/* -ENOMEM leaves *ret alone. */
static int pool_copy(struct pool *ret, const struct pool *pool)
{
	struct pool copy = *pool;
	int r;

	copy.selectors = NULL;
	copy.extra = NULL;
	copy.network = NULL;
	copy.n_selectors = copy.n_extra = 0;
	copy.name = strdup(pool->name);
	copy.prefix = strdup(pool->prefix);
	r = copy.name && copy.prefix ? selectors_copy(&copy, pool) : -ENOMEM;
	if (r == 0)
		r = extra_copy(&copy, pool);
	if (r == 0)
		r = network_copy(&copy, pool);
	if (r == 0)
		*ret = copy;
	else
		pool_done(&copy);
	return r;
}

/* --- kept ---------------------------------------------------------------------------------------
 */

#define NOBODY SIZE_MAX

/* Of each pool in use: because of which refusal it stays. */
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

static bool is_lost(const struct keep *k, const struct pool *used)
{
	char name[RESOURCE_NAME_SIZE];

	pool_resource(used, name);
	for (size_t i = 0; i < k->new->n_pools; i++)
		if (is_resource(&k->new->pools[i], name))
			return false;
	return true;
}

typedef bool means_fn(const struct keep *, const struct pool_refusal *, const struct pool *used);

/* Also where another text of the same file defines it: which of the two is meant cannot be told. */
static bool means_resource(const struct keep *k, const struct pool_refusal *r,
			   const struct pool *used)
{
	(void)k;
	return r->resource[0] && is_resource(used, r->resource);
}

static bool means_name(const struct keep *k, const struct pool_refusal *r, const struct pool *used)
{
	return !r->resource[0] && strcmp(r->name, used->name) == 0 && is_lost(k, used);
}

/* One of two texts may have been meant to name another resource. */
static bool stands_twice(const struct keep *k, const struct pool_refusal *r)
{
	for (size_t i = 0; i < k->new->n_pools; i++)
		if (is_resource(&k->new->pools[i], r->resource))
			return true;
	return false;
}

static bool means_anything(const struct keep *k, const struct pool_refusal *r,
			   const struct pool *used)
{
	return (!r->name[0] || stands_twice(k, r)) && is_lost(k, used);
}

/* Who is named comes first. */
static void keep_assign(struct keep *k)
{
	static means_fn *const means[] = {means_resource, means_name, means_anything};
	const struct pool_refusals *refusals = &k->new->refusals;

	for (size_t i = 0; i < k->used->n_pools; i++)
		k->because[i] = NOBODY;
	for (size_t m = 0; m < ARRAY_SIZE(means); m++)
		for (size_t r = 0; r < refusals->n; r++)
			for (size_t i = 0; i < k->used->n_pools; i++)
				if (k->because[i] == NOBODY &&
				    means[m](k, &refusals->list[r], &k->used->pools[i]))
					k->because[i] = r;
}

/* A refusal for each pool that stays because of it, or the bare one. */
static int add_refusal(struct pool_config *out, const struct pool_refusal *from,
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
			r = add_refusal(out, from, &k->used->pools[i]);
	}
	return r < 0 || any ? r : add_refusal(out, from, NULL);
}

static bool is_kept(const struct keep *k, const struct pool *pool)
{
	char name[RESOURCE_NAME_SIZE];

	pool_resource(pool, name);
	for (size_t i = 0; i < k->used->n_pools; i++)
		if (k->because[i] != NOBODY && is_resource(&k->used->pools[i], name))
			return true;
	return false;
}

/* In the file's order, each refused text standing for what stays because of it. */
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

static int keep_refused(struct pool_config *c, const struct pool_config *used, struct err *e)
{
	struct keep k = {.new = c, .used = used};
	struct pool_config merged = {.doubt = c->doubt};
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
	pool_config_done(c);
	*c = merged;
	return 0;
}

/* What goes is meant to go, unless there is a slip that may be why. */
static int check_doubt(const struct pool_config *c, const struct pool_config *used, struct err *e)
{
	const struct keep k = {.new = c, .used = used};
	bool named = c->n_pools > 0 || c->refusals.n > 0;
	char name[RESOURCE_NAME_SIZE];

	if (!c->doubt.why[0] || (c->doubt.faint && named))
		return 0;
	for (size_t i = 0; i < used->n_pools; i++) {
		if (!is_lost(&k, &used->pools[i]))
			continue;
		pool_resource(&used->pools[i], name);
		return err_set(e, -EINVAL, "%.150s; %.80s would be withdrawn", c->doubt.why, name);
	}
	return 0;
}

int pool_config_keep(struct pool_config *c, const struct pool_config *used, struct err *e)
{
	int r = keep_refused(c, used, e);

	return r < 0 ? r : check_doubt(c, used, e);
}

void pool_refusal_text(const struct pool_refusal *r, char ret[POOL_REFUSAL_TEXT])
{
	const char *name = r->name[0] ? r->name : "a resource";

	snprintf(ret, POOL_REFUSAL_TEXT, "%s %s: %s", r->resource[0] ? r->resource : name,
		 r->kept ? "keeps its definition in use" : "is left out", r->why);
}
