// SPDX-License-Identifier: Apache-2.0
/* proposal.c - rates every function separately, creates pools of the best ones, and places the
 * functions with pools_build(). */
#include "proposal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "host_index.h"
#include "pool_config.h"
#include "pools.h"
#include "proposal_rate.h"

#define DESCRIPTION_SIZE 192

struct work {
	struct host_index index;
	const struct netdev **routes;
	struct rated *rated; /* one per function */
	struct pools built;
	struct pool_config config; /* `built` borrows its pools */
};

__attribute__((format(printf, 3, 4))) static void proposal_append(char *text, size_t size,
								  const char *fmt, ...)
{
	size_t len = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + len, size - len, fmt, ap);
	va_end(ap);
}

/* Writes a text such as "0000:03:00.0 (eth0, mlx5_0)". */
static void proposal_describe(const struct work *w, const struct function *fn,
			      char ret[DESCRIPTION_SIZE])
{
	const struct fn_parts p = host_index_own_parts(&w->index, fn);
	const struct netdev *nd = proposal_netdev(&p);
	const char *rdma = p.n_rdma ? part_rdma(&p, 0)->name : "";
	bool named = rdma[0] && strcmp(rdma, fn->id) != 0;

	snprintf(ret, DESCRIPTION_SIZE, "%s", fn->id);
	if (nd || named)
		proposal_append(ret, DESCRIPTION_SIZE, " (%s%s%s)", nd ? nd->name : "",
				nd && named ? ", " : "", named ? rdma : "");
}

/* --- selectors -------------------------------------------------------------------------------- */

/* True if the name is stable, i.e. not numbered by the kernel (alloc_netdev() with "eth%d",
 * "ib%d"), and has only plain characters, because '#' is special in a selector. */
static bool is_lasting(const char *name)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	size_t letters = strcspn(name, "0123456789");
	bool numbered = name[letters] &&
			name[letters + strspn(name + letters, "0123456789")] == '\0';

	if (name[0] == '\0' || name[strspn(name, plain)] != '\0')
		return false;
	return !numbered ||
	       (strncmp(name, "eth", letters) != 0 && strncmp(name, "ib", letters) != 0);
}

static const char *lasting_name(const struct netdev *nd)
{
	if (!nd || is_lasting(nd->name))
		return nd ? nd->name : NULL;
	for (const char *alt = NULL; (alt = netdev_altname(nd, alt));)
		if (strlen(alt) < IFNAMSIZ && is_lasting(alt))
			return alt;
	return NULL;
}

static void select_hca(struct proposed_pool *p, const struct function *fn, const char *name)
{
	p->selector = fn->kind == FN_VIRTUAL ? "rdmaNames" : name ? "ifNames" : "pciAddresses";
	snprintf(p->word, sizeof(p->word), "%s", fn->kind != FN_VIRTUAL && name ? name : fn->id);
}

/* Selects all VF numbers that the PF can have. Without a range, the PF itself would be offered
 * while it has no VFs. */
static void select_vfs(struct proposed_pool *p, const struct function *pf, const char *name)
{
	unsigned n = pf->vfs_total > pf->vfs ? pf->vfs_total : pf->vfs;

	p->selector = name ? "pfNames" : "rootDevices";
	snprintf(p->word, sizeof(p->word), "%s#0-%u", name ? name : pf->id, n ? n - 1 : 0);
}

static void proposal_select_by(struct proposed_pool *p, const struct work *w)
{
	const struct function *owner = p->owner;
	const struct fn_parts parts = host_index_own_parts(&w->index, owner);
	const char *name = lasting_name(proposal_netdev(&parts));

	switch (p->kind) {
	case PROPOSED_VFS:
	case PROPOSED_SOFT_VFS:
		select_vfs(p, owner, name);
		break;
	case PROPOSED_SFS: /* this never selects the PF itself, which is of another type */
		p->selector = name ? "pfNames" : "rootDevices";
		snprintf(p->word, sizeof(p->word), "%s", name ? name : owner->id);
		break;
	case PROPOSED_HCA:
	case PROPOSED_SOFT_HCA:
		select_hca(p, owner, name);
		break;
	case N_PROPOSED_KINDS:
		break;
	}
}

/* --- pools ------------------------------------------------------------------------------------ */

static enum proposal_rating best_rating(const struct work *w)
{
	enum proposal_rating best = RATED_NEVER;

	for (size_t i = 0; i < w->index.host->n_functions; i++)
		best = w->rated[i].rating > best ? w->rated[i].rating : best;
	return best;
}

static int proposal_pool_add(struct proposal *p, const struct work *w, const struct rated *r,
			     const struct function *fn)
{
	struct proposed_pool *new;

	for (size_t i = 0; i < p->n_pools; i++)
		if (p->pools[i].kind == r->kind && p->pools[i].owner == r->owner)
			return 0;
	new = array_push(p->pools, p->n_pools);
	if (!new)
		return -ENOMEM;
	new->kind = r->kind;
	new->owner = r->owner;
	snprintf(new->driver, sizeof(new->driver), "%s", fn->driver);
	proposal_select_by(new, w);
	return 0;
}

static const char *kind_word(enum proposed_kind kind)
{
	static const char *const names[N_PROPOSED_KINDS] = {[PROPOSED_VFS] = "roce",
							    [PROPOSED_SFS] = "sf",
							    [PROPOSED_HCA] = "hca",
							    [PROPOSED_SOFT_VFS] = "soft-roce",
							    [PROPOSED_SOFT_HCA] = "soft-hca"};

	return (size_t)kind < ARRAY_SIZE(names) ? names[kind] : "";
}

/* Names pools "roce", or "roce0", "roce1" if there are several. */
static void name_pools(struct proposal *p, size_t first)
{
	size_t n = p->n_pools - first;

	for (size_t i = 0; i < n; i++) {
		struct proposed_pool *pool = &p->pools[first + i];

		snprintf(pool->name, sizeof(pool->name), "%s", kind_word(pool->kind));
		if (n > 1)
			proposal_append(pool->name, sizeof(pool->name), "%zu", i);
	}
}

/* Proposes pools, ordered by kind, then by PF in the host's order, which is that of PCI addresses.
 */
static int propose_pools(struct proposal *p, const struct work *w)
{
	const struct host *h = w->index.host;
	enum proposal_rating best = best_rating(w);
	int r = 0;

	for (unsigned kind = 0; kind < N_PROPOSED_KINDS && best != RATED_NEVER; kind++) {
		size_t first = p->n_pools;

		for (size_t i = 0; i < h->n_functions && r == 0; i++)
			if (w->rated[i].rating == best && w->rated[i].kind == kind)
				r = proposal_pool_add(p, w, &w->rated[i], &h->functions[i]);
		name_pools(p, first);
	}
	return r;
}

/* --- placement -------------------------------------------------------------------------------- */

static void proposal_on_warning(const char *sentence, void *arg)
{
	(void)sentence, (void)arg;
}

/* Builds the pools as a daemon with that configuration would. */
static int build_pools(const struct proposal *p, struct work *w)
{
	AUTO_FREE char *text = proposal_text(p);
	int r = text ? pool_config_parse(&w->config, text, strlen(text), "", proposal_on_warning,
					 NULL, NULL)
		     : -ENOMEM;

	if (r < 0)
		return r;
	return pools_build(&w->built, &w->config, w->index.host, NULL);
}

static void about_pf(struct proposed_pool *p, const struct work *w, const struct fn_parts *parts)
{
	const struct netdev *nd = proposal_netdev(parts), *bond = proposal_bond(&w->index, parts);
	const struct netdev *route = proposal_route(&w->index, w->routes, parts);

	if (nd && nd->carrier == CARRIER_OFF)
		proposal_append(p->about, sizeof(p->about),
				"; it has no carrier now, so they are unhealthy");
	if (route)
		proposal_append(p->about, sizeof(p->about),
				"; it carries the default route (%s), but its VFs do not",
				route->name);
	if (bond)
		proposal_append(p->about, sizeof(p->about),
				"; it is a member of %s, but its VFs are not", bond->name);
}

static void about_hca(struct proposed_pool *p, const struct work *w, const struct fn_parts *parts)
{
	const struct netdev *bond = proposal_bond(&w->index, parts);
	const struct netdev *route = proposal_route(&w->index, w->routes, parts);

	if (route)
		proposal_append(
			p->about, sizeof(p->about),
			"; carries the default route (%s), but is the only device that can be shared",
			route->name);
	if (bond)
		proposal_append(p->about, sizeof(p->about), "; the RoCE LAG of %s", bond->name);
	if (parts->fn->vfs_total > 0)
		proposal_append(
			p->about, sizeof(p->about),
			"; it can have %u VFs (sriov_numvfs): create some and run this again, and "
			"each pod gets one",
			parts->fn->vfs_total);
}

static void describe_pool(struct proposed_pool *p, const struct work *w, const struct pool_view *v)
{
	const struct fn_parts parts = host_index_own_parts(&w->index, p->owner);
	bool shared = p->kind == PROPOSED_HCA || p->kind == PROPOSED_SOFT_HCA;
	char device[DESCRIPTION_SIZE];

	proposal_describe(w, p->owner, device);
	if (shared)
		snprintf(p->about, sizeof(p->about), "%s, shared", device);
	else
		snprintf(p->about, sizeof(p->about), "%zu %s%s of %s", v->n_members,
			 p->kind == PROPOSED_SFS ? "sub-function" : "VF",
			 v->n_members == 1 ? "" : "s", device);
	if (p->owner->numa >= 0)
		proposal_append(p->about, sizeof(p->about), ", NUMA node %d", p->owner->numa);
	if (p->kind == PROPOSED_SOFT_VFS)
		proposal_append(p->about, sizeof(p->about),
				"; without RDMA: pods get soft-RoCE on them");
	if (shared)
		about_hca(p, w, &parts);
	else
		about_pf(p, w, &parts);
}

/* --- functions left out ----------------------------------------------------------------------- */

/* Writes the reason why function i is left out; false: a pool has it. */
static bool left_out_why(const struct work *w, size_t i, char *ret, size_t size)
{
	const struct verdict *v = &w->built.verdicts[i];

	if (v->kind == VERDICT_OFFERED)
		return false;
	if (w->rated[i].why[0])
		snprintf(ret, size, "%s", w->rated[i].why);
	else
		verdict_text(v, ret, size);
	return true;
}

/* True if function i and the next one share a line. */
static bool is_like_next(const struct work *w, size_t i)
{
	const struct host *h = w->index.host;
	char a[sizeof(w->rated->why)], b[sizeof(a)];

	return i + 1 < h->n_functions && h->functions[i].kind == FN_VF &&
	       h->functions[i + 1].kind == FN_VF && w->rated[i].owner == w->rated[i + 1].owner &&
	       left_out_why(w, i, a, sizeof(a)) && left_out_why(w, i + 1, b, sizeof(b)) &&
	       strcmp(a, b) == 0;
}

static int leave_out_rest(struct proposal *p, const struct work *w)
{
	const struct host *h = w->index.host;

	for (size_t i = 0, first = 0; i < h->n_functions; first = ++i) {
		char why[sizeof(w->rated->why)], device[DESCRIPTION_SIZE];
		char(*line)[PROPOSAL_LINE_SIZE];

		if (!left_out_why(w, i, why, sizeof(why)))
			continue;
		while (is_like_next(w, i))
			i++;
		line = array_push(p->left_out, p->n_left_out);
		if (!line)
			return -ENOMEM;
		proposal_describe(w, &h->functions[first], device);
		if (i > first)
			snprintf(device, sizeof(device), "%s to %s", h->functions[first].id,
				 h->functions[i].id);
		snprintf(*line, sizeof(*line), "%s: %s", device, why);
	}
	return 0;
}

/* --- all steps -------------------------------------------------------------------------------- */

/* A daemon that cannot attach cannot create soft-RoCE in a pod either. */
static void proposal_leave_soft(struct rated *r)
{
	if (r->rating == RATED_NEVER || r->kind != PROPOSED_SOFT_VFS)
		return;
	r->rating = RATED_NEVER;
	snprintf(r->why, sizeof(r->why),
		 "no RDMA device; soft-RoCE in a pod needs capabilities (not --unprivileged)");
}

static int work_init(struct work *w, const struct host *h, bool attaches)
{
	int r = host_index_init(&w->index, h);

	if (r < 0)
		return r;
	w->routes = default_routes(&w->index);
	w->rated = calloc(h->n_functions + 1, sizeof(*w->rated));
	if (!w->routes || !w->rated)
		return -ENOMEM;
	for (size_t i = 0; i < h->n_functions; i++) {
		proposal_rate(&w->rated[i], &w->index, w->routes, &h->functions[i]);
		if (!attaches)
			proposal_leave_soft(&w->rated[i]);
	}
	return 0;
}

static void work_done(struct work *w)
{
	pools_done(&w->built);
	pool_config_done(&w->config);
	free(w->rated);
	free(w->routes);
	host_index_done(&w->index);
}

int proposal_build(struct proposal *ret, const struct host *h, bool attaches)
{
	struct proposal p = {.attaches = attaches};
	struct work w = {0};
	int r = work_init(&w, h, attaches);

	if (r == 0)
		r = propose_pools(&p, &w);
	if (r == 0)
		r = build_pools(&p, &w);
	for (size_t i = 0; i < p.n_pools && r == 0; i++)
		describe_pool(&p.pools[i], &w, &w.built.views[i]);
	if (r == 0)
		r = leave_out_rest(&p, &w);
	work_done(&w);
	if (r == 0)
		*ret = p;
	else
		proposal_done(&p);
	return r;
}

void proposal_done(struct proposal *p)
{
	free(p->pools);
	free(p->left_out);
	*p = (struct proposal){0};
}
