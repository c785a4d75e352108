// SPDX-License-Identifier: Apache-2.0
/* routes_pod.c - rejects queries about pods that this node does not know, for all routes alike. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api_attachments.h"
#include "event_ring.h"
#include "resource_table.h"
#include "routes.h"
#include "sandbox.h"
#include "search.h"
#include "suggest.h"

static bool routes_pod_is_held(const struct pod_list *held, const char *name)
{
	return any_of(held->n, i,
		      api_names_pod(name, held->devices[i].namespace, held->devices[i].pod));
}

static bool routes_pod_is_attached(const struct attach_list list, const char *name)
{
	return any_of(list.n, i,
		      api_names_pod(name, list.items[i].record->owner.namespace,
				    list.items[i].record->owner.pod));
}

/* Processes of a pod without a device may have queue pairs; the runtime knows such pods. */
static bool routes_pod_is_sandbox(const struct routes *r, const char *name)
{
	struct qp_sources sources = {.table = NULL};
	struct qps_status status = {0};
	const struct sandbox_list *list;

	if (r->qp_hooks.fill)
		r->qp_hooks.fill(&sources, &status, r->qp_hooks.arg);
	list = sources.sandboxes;
	return list && any_of(list->n, i,
			      api_names_pod(name, list->items[i].namespace, list->items[i].pod));
}

/* Returns the pod with a device whose name is the nearest; NULL: none is similar. */
static const struct pod_device *routes_pod_nearest(const struct pod_list *held, const char *name)
{
	const char *slash = strrchr(name, '/'), *near = NULL;
	const char **words = calloc(held->n + 1, sizeof(*words));
	const struct pod_device *found = NULL;

	name = slash ? slash + 1 : name;
	for (size_t i = 0; words && i < held->n; i++)
		words[i] = held->devices[i].pod;
	if (words)
		near = suggest(name, strlen(name), words, held->n);
	if (near)
		found = find_first(held->devices, held->n, i, held->devices[i].pod == near);
	free(words);
	return found;
}

int routes_check_pod(const struct routes *r, const struct http_request *request, struct err *e)
{
	const char *name = http_param(request, "pod");
	const struct pod_list *held = r->resources ? &r->resources->held : NULL;
	const struct event_filter of_pod = {.pod = name};
	const struct pod_device *near;

	if (!name || !held || held->source == POD_SOURCE_NONE || r->resources->held_error[0] ||
	    http_param(request, "wait"))
		return 0;
	if (routes_pod_is_held(held, name) || routes_pod_is_attached(r->attachments, name) ||
	    api_events_any(r->events, &of_pod) || routes_pod_is_sandbox(r, name))
		return 0;
	near = routes_pod_nearest(held, name);
	if (!near)
		return err_set(e, -ENOENT, "%.128s has no device on this node", name);
	return err_set(e, -ENOENT, "%.100s has no device on this node; did you mean %.60s/%.60s?",
		       name, near->namespace, near->pod);
}
