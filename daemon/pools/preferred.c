// SPDX-License-Identifier: Apache-2.0
/* preferred.c - chooses the best of the free IDs for a container. Pure.
 *
 * The candidates are sorted in natural order once, so that the order of the request has no effect.
 * Then the best remaining candidate is taken until there are enough. contender_better() defines
 * "best". Fails if must_include is not available or exceeds the size, or out of memory. */
#include "allocation.h"

#include <stdlib.h>

#include "array.h"

/* IDs with a common property: a NUMA node, or the PF or HCA below them. */
struct group {
	const char *name; /* of the PF or HCA; NULL for NUMA nodes */
	int numa;
	size_t left, taken;
};

struct groups {
	struct group *list;
	size_t n;
};

struct contender {
	const char *id;	  /* pointer into the request */
	const char *path; /* sysfs path of its function, "" = unknown */
	size_t node, pf;  /* indexes of its groups */
	unsigned close;	  /* bridges shared with the closest ID of must_include */
	bool busy, taken;
};

struct choice {
	struct contender *list; /* in natural order, without duplicates */
	size_t n;
	struct groups nodes, pfs;
};

static void choice_done(struct choice *c)
{
	free(c->list);
	free(c->nodes.list);
	free(c->pfs.list);
}

/* --- look-ups of an ID ------------------------------------------------------------------------ */

struct named {
	const char *name;
	const void *object;
};

static int allocation_by_name(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* Objects sorted by name: a host may have a thousand functions, and a request as many IDs. */
struct lookup {
	struct named *list;
	size_t n;
};

/* Builds a lookup of names. first: the name inside element 0 of an array of n elements of that
 * size. */
static bool lookup_init(struct lookup *l, const char *first, size_t n, size_t size,
			const void *array)
{
	l->n = n;
	l->list = calloc(n + 1, sizeof(*l->list));
	if (!l->list)
		return false;
	for (size_t i = 0; i < n; i++)
		l->list[i] = (struct named){first + i * size, (const char *)array + i * size};
	qsort(l->list, n, sizeof(*l->list), allocation_by_name);
	return true;
}

static const void *lookup_find(const struct lookup *l, const char *name)
{
	struct named key = {name, NULL};
	const struct named *found = bsearch(&key, l->list, l->n, sizeof(key), allocation_by_name);

	return found ? found->object : NULL;
}

struct indexes {
	const struct pool_view *view;
	struct lookup offers, functions;
};

static bool indexes_init(struct indexes *k, const struct pool_view *view, const struct host *host)
{
	*k = (struct indexes){.view = view};
	return lookup_init(&k->offers, view->n_offers ? view->offers[0].id : "", view->n_offers,
			   sizeof(*view->offers), view->offers) &&
	       lookup_init(&k->functions, host->n_functions ? host->functions[0].id : "",
			   host->n_functions, sizeof(*host->functions), host->functions);
}

static void indexes_done(struct indexes *k)
{
	free(k->offers.list);
	free(k->functions.list);
}

/* Returns the function of an ID; NULL: none, or the ID is for all functions of the pool. */
static const struct function *function_of(const struct indexes *k, const char *id)
{
	const struct offer *o = lookup_find(&k->offers, id);

	if (!o || o->n_members != 1)
		return NULL;
	return lookup_find(&k->functions, k->view->members[o->first_member]);
}

/* Returns the NUMA node of a function; a sub-function without one has that of its parent. */
static int numa_of(const struct indexes *k, const struct function *fn)
{
	if (fn && fn->kind == FN_SF && fn->numa < 0)
		fn = lookup_find(&k->functions, fn->parent);
	return fn ? fn->numa : -1;
}

/* Returns the name of the group. VFs and sub-functions are grouped by PF, the slots of a shared
 * pool by HCA. */
static const char *pf_of(const struct pool_view *view, const struct function *fn)
{
	return view->pool->kind == POOL_EXCLUSIVE && fn->parent[0] != '\0' ? fn->parent : fn->id;
}

/* --- candidates ------------------------------------------------------------------------------- */

/* Finds or adds the group with that name and node, and increments its count; *ret_i: its index.
 * False: out of memory. */
static bool group_join(struct groups *g, const char *name, int numa, size_t *ret_i)
{
	struct group *new;

	for (*ret_i = 0; *ret_i < g->n; (*ret_i)++) {
		struct group *have = &g->list[*ret_i];

		if (have->numa == numa && (!name || strcmp(have->name, name) == 0)) {
			have->left++;
			return true;
		}
	}
	new = array_push(g->list, g->n);
	if (new)
		*new = (struct group){.name = name, .numa = numa, .left = 1};
	return new != NULL;
}

static int allocation_by_id(const void *pa, const void *pb)
{
	const struct contender *a = pa, *b = pb;
	int r = natural_cmp(a->id, b->id);

	return r ? r : strcmp(a->id, b->id);
}

static bool choice_fill(struct choice *c, const struct id_list *available)
{
	size_t n = 0;

	c->list = calloc(available->n + 1, sizeof(*c->list));
	if (!c->list)
		return false;
	for (size_t i = 0; i < available->n; i++)
		c->list[i].id = available->ids[i];
	qsort(c->list, available->n, sizeof(*c->list), allocation_by_id);
	for (size_t i = 0; i < available->n; i++)
		if (n == 0 || strcmp(c->list[n - 1].id, c->list[i].id) != 0)
			c->list[n++] = c->list[i];
	c->n = n;
	return true;
}

static bool choice_describe(struct choice *c, const struct indexes *k)
{
	for (size_t i = 0; i < c->n; i++) {
		struct contender *x = &c->list[i];
		const struct function *fn = function_of(k, x->id);

		x->path = fn ? fn->path : "";
		if (!group_join(&c->nodes, NULL, numa_of(k, fn), &x->node) ||
		    !group_join(&c->pfs, fn ? pf_of(k->view, fn) : "", 0, &x->pf))
			return false;
	}
	return true;
}

static void choice_take(struct choice *c, struct contender *x)
{
	x->taken = true;
	c->nodes.list[x->node].left--;
	c->nodes.list[x->node].taken++;
	c->pfs.list[x->pf].left--;
	c->pfs.list[x->pf].taken++;
}

/* --- comparison ------------------------------------------------------------------------------- */

/* Returns the number of bridges that two functions share, from the root complex down. The last
 * component of a path is the function itself and is not counted, so cards in two ports of one
 * switch are as close as possible. */
static unsigned shared_bridges(const char *a, const char *b)
{
	const char *end_a = strrchr(a, '/'), *end_b = strrchr(b, '/');
	size_t len_a = end_a ? (size_t)(end_a - a) : 0, len_b = end_b ? (size_t)(end_b - b) : 0;
	unsigned shared = 0;

	for (size_t i = 0; i <= len_a && i <= len_b; i++) {
		bool a_ends = i == len_a || a[i] == '/', b_ends = i == len_b || b[i] == '/';

		if (a_ends && b_ends && i > 0)
			shared++;
		if (i == len_a || i == len_b || a[i] != b[i])
			break;
	}
	return shared;
}

/* Sets how close every candidate is to the IDs of must_include. */
static void choice_measure(struct choice *c)
{
	for (size_t j = 0; j < c->n; j++)
		for (size_t i = 0; c->list[j].taken && i < c->n; i++) {
			unsigned shared = shared_bridges(c->list[i].path, c->list[j].path);

			if (shared > c->list[i].close)
				c->list[i].close = shared;
		}
}

/* Compares two groups. < 0: a is better. A node in use is best, so the container stays on it while
 * the node has IDs left. Next is the node with the most IDs left, which most likely has enough for
 * the rest. Functions without a node are last. */
static int compare_nodes(const struct group *a, const struct group *b)
{
	bool a_used = a->taken > 0 && a->numa >= 0, b_used = b->taken > 0 && b->numa >= 0;

	if (a_used != b_used)
		return a_used ? -1 : 1;
	if (a == b || a_used)
		return 0;
	if ((a->numa < 0) != (b->numa < 0))
		return a->numa < 0 ? 1 : -1;
	if (a->left != b->left)
		return a->left > b->left ? -1 : 1;
	return a->numa < b->numa ? -1 : 1;
}

/* Spreads the load: prefers the PF with the fewest IDs taken, then the PF with the most IDs left.
 */
static int compare_pfs(const struct group *a, const struct group *b)
{
	if (a->taken != b->taken)
		return a->taken < b->taken ? -1 : 1;
	if (a->left != b->left)
		return a->left > b->left ? -1 : 1;
	return 0;
}

/* True if a is better than b. b precedes a in natural order, so a must be strictly better. */
static bool contender_better(const struct choice *c, const struct contender *a,
			     const struct contender *b)
{
	int r = a->busy - b->busy;

	if (r == 0)
		r = compare_nodes(&c->nodes.list[a->node], &c->nodes.list[b->node]);
	if (r == 0)
		r = (int)b->close - (int)a->close;
	if (r == 0)
		r = compare_pfs(&c->pfs.list[a->pf], &c->pfs.list[b->pf]);
	return r < 0;
}

static struct contender *contender_best(struct choice *c)
{
	struct contender *found = NULL;

	for (size_t i = 0; i < c->n; i++)
		if (!c->list[i].taken && (!found || contender_better(c, &c->list[i], found)))
			found = &c->list[i];
	return found;
}

/* --- choice ----------------------------------------------------------------------------------- */

/* Takes the IDs of must_include, in natural order. Returns their number, or -EINVAL if an ID is not
 * available or there are too many. */
static int take_must(struct choice *c, const char **ret, const struct preference_request *req)
{
	size_t n = 0;

	for (size_t i = 0; i < req->must_include.n; i++) {
		struct contender key = {.id = req->must_include.ids[i]}, *x;

		x = c->n ? bsearch(&key, c->list, c->n, sizeof(*c->list), allocation_by_id) : NULL;
		if (!x || (!x->taken && n == req->size))
			return -EINVAL;
		n += !x->taken;
		if (!x->taken)
			choice_take(c, x);
	}
	n = 0;
	for (size_t i = 0; i < c->n; i++)
		if (c->list[i].taken)
			ret[n++] = c->list[i].id;
	choice_measure(c);
	return (int)n;
}

static int choice_make(struct choice *c, const char **ret, const struct preference_request *req)
{
	int n = take_must(c, ret, req);
	struct contender *x;

	while (n >= 0 && (size_t)n < req->size && (x = contender_best(c))) {
		choice_take(c, x);
		ret[n++] = x->id;
	}
	return n;
}

int allocation_prefer(const char **ret, const struct pool_view *view, const struct host *host,
		      const struct preference_request *req, id_busy_fn *is_busy, void *arg)
{
	struct choice c = {0};
	struct indexes k;
	int r = -ENOMEM;

	if (indexes_init(&k, view, host) && choice_fill(&c, &req->available) &&
	    choice_describe(&c, &k)) {
		for (size_t i = 0; i < c.n; i++)
			c.list[i].busy = is_busy(c.list[i].id, arg);
		r = choice_make(&c, ret, req);
	}
	choice_done(&c);
	indexes_done(&k);
	return r;
}
