// SPDX-License-Identifier: Apache-2.0
#include "pod_status.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

bool pod_status_name(const char *id, char ret[PLUGIN_ID_SIZE])
{
	size_t len = strlen(id);

	if (len == 0 || len >= PLUGIN_ID_SIZE || id[0] == '.')
		return false;
	for (size_t i = 0; i <= len; i++) {
		if (id[i] == '/' || (id[i] != '\0' && (id[i] <= ' ' || id[i] > '~')))
			return false;
		ret[i] = id[i] == ':' ? '-' : id[i];
	}
	return true;
}

/* --- the container's grant -------------------------------------------------------------------- */

/* Returns the name of the variable, such as "ROCELET_STATUS_INTEL_COM_SRIOV", built like
 * PCIDEVICE_... */
static char *status_variable(const struct pool *pool)
{
	char *name;

	if (asprintf(&name, "ROCELET_STATUS_%s_%s", pool->prefix, pool->name) < 0)
		return NULL;
	for (char *c = name; *c != '\0'; c++)
		*c = *c == '.' ? '_' : (char)toupper((unsigned char)*c);
	return name;
}

static int grant_folder(struct container_grant *grant, const char *run_dir, const char *name)
{
	AUTO_FREE char *host = NULL;
	AUTO_FREE char *inside = NULL;

	if (asprintf(&host, "%s/" POD_STATUS_DIR "/%s", run_dir, name) < 0) {
		host = NULL;
		return -ENOMEM;
	}
	if (asprintf(&inside, POD_STATUS_INSIDE "/%s", name) < 0) {
		inside = NULL;
		return -ENOMEM;
	}
	return container_grant_mount(grant, host, inside, true);
}

/* Appends to the list, which is NULL at first, and frees the old one; NULL: out of memory. */
static char *longer_list(char *list, const char *name)
{
	char *ret;

	if (asprintf(&ret, "%s%s" POD_STATUS_INSIDE "/%s/" POD_STATUS_FILE, list ? list : "",
		     list ? "," : "", name) < 0)
		ret = NULL;
	free(list);
	return ret;
}

int pod_status_grant(struct container_grant *grant, const struct pool *pool, const char *run_dir,
		     struct id_list ids)
{
	AUTO_FREE char *variable = status_variable(pool);
	AUTO_FREE char *list = NULL;
	char name[PLUGIN_ID_SIZE];

	if (!variable)
		return -ENOMEM;
	for (size_t i = 0; i < ids.n; i++) {
		if (!pod_status_name(ids.ids[i], name))
			continue;
		list = longer_list(list, name);
		if (!list || grant_folder(grant, run_dir, name) < 0)
			return -ENOMEM;
	}
	return list ? container_grant_env(grant, variable, list) : 0;
}

/* --- the planned folders ---------------------------------------------------------------------- */

static bool pod_status_is_on(const struct pools *pools, const struct pod_device *d)
{
	const struct pool_view *view = pools_find(pools, d->resource);

	return view && view->pool->pod_status && pool_view_offer(view, d->id);
}

static int pod_status_by_name(const void *a, const void *b)
{
	return strcmp(((const struct pod_status_folder *)a)->name,
		      ((const struct pod_status_folder *)b)->name);
}

/* Merges several entries of one device, of containers or of resources, because they share one
 * folder. */
static void merge_same(struct pod_status_plan *plan)
{
	struct pod_status_folder *last = NULL;
	size_t n = 0;

	qsort(plan->folders, plan->n, sizeof(*plan->folders), pod_status_by_name);
	for (size_t i = 0; i < plan->n; i++) {
		const struct pod_status_folder *f = &plan->folders[i];

		if (!last || strcmp(last->name, f->name) != 0) {
			plan->folders[n] = *f;
			last = &plan->folders[n++];
			continue;
		}
		last->has_status |= f->has_status;
		last->since_ms = f->since_ms > last->since_ms ? f->since_ms : last->since_ms;
	}
	plan->n = n;
}

int pod_status_plan_make(struct pod_status_plan *plan, const struct pools *pools,
			 const struct pod_list *held)
{
	*plan = (struct pod_status_plan){.certain = held->source != POD_SOURCE_NONE};
	plan->folders = calloc(held->n + 1, sizeof(*plan->folders));
	if (!plan->folders)
		return -ENOMEM;
	for (size_t i = 0; i < held->n; i++) {
		const struct pod_device *d = &held->devices[i];
		struct pod_status_folder *f = &plan->folders[plan->n];

		if (!pod_status_name(d->id, f->name))
			continue;
		snprintf(f->id, sizeof(f->id), "%s", d->id);
		f->has_status = pod_status_is_on(pools, d);
		f->since_ms = d->reserved_ms;
		plan->n++;
	}
	merge_same(plan);
	for (size_t i = 0; i < plan->n; i++)
		plan->n_with_status += plan->folders[i].has_status;
	return 0;
}

void pod_status_plan_done(struct pod_status_plan *plan)
{
	free(plan->folders);
	*plan = (struct pod_status_plan){0};
}

bool pod_status_is_stale(const struct pod_status_plan *plan, const char *name)
{
	struct pod_status_folder key;

	if (!plan->certain)
		return false;
	if (strlen(name) >= sizeof(key.name))
		return true;
	strcpy(key.name, name);
	return !bsearch(&key, plan->folders, plan->n, sizeof(key), pod_status_by_name);
}
