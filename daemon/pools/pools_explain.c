// SPDX-License-Identifier: Apache-2.0
/* pools_explain.c - the output of --check-config: the placement of every function, the devices of
 * every pool, and warnings. Pure. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pools.h"

void verdict_text(const struct verdict *v, char *text, size_t size)
{
	char resource[RESOURCE_NAME_SIZE] = "no pool";

	if (v->pool)
		pool_resource(v->pool, resource);
	switch (v->kind) {
	case VERDICT_OFFERED:
		snprintf(text, size, "%s", resource);
		break;
	case VERDICT_KEPT:
		snprintf(text, size, "%s, as long as a container holds it", resource);
		break;
	case VERDICT_HAS_VFS:
		snprintf(text, size, "not offered: it has VFs (matches %s)", resource);
		break;
	case VERDICT_DEFAULT_ROUTE:
		snprintf(text, size, "not offered: carries the default route (%s)", v->detail);
		break;
	case VERDICT_ELSEWHERE:
		snprintf(text, size, "not offered: it is in %s%s, and no container holds it",
			 v->detail[0] ? "network namespace " : "another network namespace",
			 v->detail);
		break;
	case VERDICT_FOREIGN:
		snprintf(text, size, "not offered: a container holds it as %s", v->detail);
		break;
	case VERDICT_NO_MATCH:
		snprintf(text, size, v->pool ? "no pool: %s %s" : "%s", resource,
			 why_not_name(v->why));
		break;
	}
}

/* --- functions -------------------------------------------------------------------------------- */

static int function_width(const struct pools *p)
{
	size_t widest = 0;

	for (size_t i = 0; i < p->n_verdicts; i++) {
		size_t n = strlen(p->verdicts[i].function);

		widest = n > widest ? n : widest;
	}
	return (int)widest;
}

static void print_resource(FILE *f, const char *before, const struct pool *p)
{
	char resource[RESOURCE_NAME_SIZE];

	pool_resource(p, resource);
	fprintf(f, "%s%s", before, resource);
}

/* Prints the line of a function. Members are in the functions' order; at[view] is the index of each
 * view's next member. */
static void print_function(FILE *f, const struct pools *p, const struct verdict *v, int columns,
			   size_t *at)
{
	char text[RESOURCE_NAME_SIZE + sizeof(v->detail) + 80];

	verdict_text(v, text, sizeof(text));
	fprintf(f, "%-*s  %s", columns, v->function, text);
	for (size_t i = 0; i < p->n_views; i++) {
		const struct pool_view *view = &p->views[i];

		if (at[i] >= view->n_members || strcmp(view->members[at[i]], v->function) != 0)
			continue;
		at[i]++;
		if (view->pool != v->pool)
			print_resource(f, ", ", view->pool);
	}
	fputc('\n', f);
}

/* --- pools ------------------------------------------------------------------------------------ */

static const char *explain_plural(size_t n)
{
	return n == 1 ? "" : "s";
}

static void print_pool(FILE *f, const struct pool_view *v)
{
	print_resource(f, "", v->pool);
	switch (v->pool->kind) {
	case POOL_EXCLUSIVE:
		fprintf(f, ": %zu device%s", v->n_offers, explain_plural(v->n_offers));
		break;
	case POOL_SHARED_ALL:
		fprintf(f, ": %zu slot%s, each on all of %zu HCA%s", v->n_offers,
			explain_plural(v->n_offers), v->n_members, explain_plural(v->n_members));
		break;
	case POOL_SHARED_ONE:
		fprintf(f, ": %zu slot%s, each on one of %zu HCA%s", v->n_offers,
			explain_plural(v->n_offers), v->n_members, explain_plural(v->n_members));
		break;
	}
	if (v->gid_capacity)
		fprintf(f, "; %u fit the GID tables", v->gid_capacity);
	fputc('\n', f);
}

/* --- warnings --------------------------------------------------------------------------------- */

static void warn_empty(FILE *f, const struct pool_view *v)
{
	if (v->n_offers)
		return;
	print_resource(f, "warning: ", v->pool);
	fprintf(f, " has no devices%s%s\n", v->hint[0] ? ": " : "", v->hint);
}

/* Warns about selectors without a match in a pool that has devices. */
static void warn_selectors(FILE *f, const struct pool_view *v)
{
	for (size_t i = 0; i < v->pool->n_selectors && v->n_members; i++) {
		if (v->hits[i])
			continue;
		print_resource(f, "warning: ", v->pool);
		fprintf(f, ": nothing matches selector %zu of %zu\n", i + 1, v->pool->n_selectors);
	}
}

static void warn_slots(FILE *f, const struct pool_view *v)
{
	if (v->gid_capacity && v->n_offers > v->gid_capacity) {
		print_resource(f, "warning: ", v->pool);
		fprintf(f,
			": %zu slots, but the addresses of only %u containers fit the GID tables\n",
			v->n_offers, v->gid_capacity);
	}
	if (v->n_wanted > POOL_SLOTS_MAX) {
		print_resource(f, "warning: ", v->pool);
		fprintf(f, ": %" PRIu64 " slots are requested, %d at most are offered\n",
			v->n_wanted, POOL_SLOTS_MAX);
	}
}

/* Prints the pools. at: one element per pool, zeroed. */
static void pools_print(FILE *f, const struct pools *p, size_t *at)
{
	int columns = function_width(p);

	for (size_t i = 0; i < p->n_verdicts; i++)
		print_function(f, p, &p->verdicts[i], columns, at);
	if (p->n_verdicts && p->n_views)
		fputc('\n', f);
	for (size_t i = 0; i < p->n_views; i++)
		print_pool(f, &p->views[i]);
	for (size_t i = 0; i < p->n_views; i++) {
		warn_empty(f, &p->views[i]);
		warn_selectors(f, &p->views[i]);
		warn_slots(f, &p->views[i]);
	}
}

char *pools_explain(const struct pools *p)
{
	size_t *at = calloc(p->n_views + 1, sizeof(*at));
	char *text = NULL;
	size_t n = 0;
	FILE *f = at ? open_memstream(&text, &n) : NULL;

	if (f)
		pools_print(f, p, at);
	free(at);
	if (f && fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}
