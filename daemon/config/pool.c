// SPDX-License-Identifier: Apache-2.0
/* pool.c - names, frees and copies pools. Pure. */
#include "array.h"
#include "cleanup.h"
#include "pool_parse.h"

void pool_resource(const struct pool *pool, char ret[RESOURCE_NAME_SIZE])
{
	snprintf(ret, RESOURCE_NAME_SIZE, "%s/%s", pool->prefix, pool->name);
}

/* --- freeing ---------------------------------------------------------------------------------- */

/* Offsets of a selector's word lists. */
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

void config_state_done(struct config_state *c)
{
	free(c->refusals.list);
	free(c->idle.list);
	free(c->lacks);
	*c = (struct config_state){.held = false};
}

size_t pool_config_drop(struct pool_config *c)
{
	size_t n = c->n_pools;

	for (size_t i = 0; i < n; i++)
		pool_done(&c->pools[i]);
	free(c->pools);
	c->pools = NULL;
	c->n_pools = 0;
	return n;
}

void pool_config_done(struct pool_config *c)
{
	pool_config_drop(c);
	free(c->refusals.list);
	free(c->idle.list);
	memset(c, 0, sizeof(*c));
}

/* --- copying ---------------------------------------------------------------------------------- */

/* All these functions copy into a zeroed struct; -ENOMEM leaves a partial copy, which is freed with
 * the pool. */
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

int pool_copy(struct pool *ret, const struct pool *pool)
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
