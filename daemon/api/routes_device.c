// SPDX-License-Identifier: Apache-2.0
/* routes_device.c - finds the device that a query names, and collects the inputs of conditions. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "condition.h"
#include "device_name.h"
#include "inventory.h"
#include "routes.h"
#include "search.h"
#include "suggest.h"

/* Returns the ID of a removed device that a pool still offers, or that a container still has; NULL:
 * none. */
static const char *removed_device(const struct routes *r, const char *name)
{
	const struct resource_table *t = r->resources;
	const struct resource_device *offered = NULL;
	const struct pod_device *held = NULL;

	if (t)
		offered = find_first(t->devices, t->n_devices, i,
				     strcmp(t->devices[i].id, name) == 0);
	if (t && !offered)
		held = find_first(t->held.devices, t->held.n, i,
				  strcmp(t->held.devices[i].id, name) == 0);
	return offered ? offered->id : held ? held->id : NULL;
}

/* Appends the device name that is the nearest to an unknown one. */
static void suggest_device(const struct host *h, const char *name, struct err *e)
{
	const size_t most = h->n_functions + h->n_netdevs + h->n_rdma;
	const char **words = calloc(most + 1, sizeof(*words)), *near;
	char sentence[sizeof(e->msg)];
	size_t n = 0;

	for (size_t i = 0; words && i < h->n_functions; i++)
		words[n++] = h->functions[i].id;
	for (size_t i = 0; words && i < h->n_netdevs; i++)
		if (h->netdevs[i].nsid == NSID_HOST && h->netdevs[i].function[0])
			words[n++] = h->netdevs[i].name;
	for (size_t i = 0; words && i < h->n_rdma; i++)
		if (h->rdma[i].nsid == NSID_HOST)
			words[n++] = h->rdma[i].name;
	near = words ? suggest(name, strlen(name), words, n) : NULL;
	if (near) {
		snprintf(sentence, sizeof(sentence), "%s", e->msg);
		err_set(e, -ENODEV, "%.160s; did you mean %.64s?", sentence, near);
	}
	free(words);
}

const char *routes_wanted_device(const struct routes *r, const struct http_request *request,
				 struct err *e)
{
	const char *name = http_param(request, "device"), *device;

	if (!name || !r->inventory)
		return name;
	device = device_behind_name(&r->inventory->host, r->attachments, name, e);
	if (!device && e->code == -ENODEV && (device = removed_device(r, name)))
		*e = (struct err){0};
	if (!device && e->code == -ENODEV)
		suggest_device(&r->inventory->host, name, e);
	return device;
}

int routes_conditions(const struct routes *r, uint64_t now_ms, struct condition_sources *ret)
{
	struct resource_index *index = r->resources ? resource_index_new(r->resources) : NULL;

	if (r->resources && !index)
		return -ENOMEM;
	*ret = (struct condition_sources){.host = &r->inventory->host,
					  .resources = index,
					  .report = r->diagnosis,
					  .attachments = r->attachments,
					  .now_ms = now_ms,
					  .epoch_ms = r->epoch_ms};
	return 0;
}

void routes_conditions_done(struct condition_sources *s)
{
	resource_index_free((struct resource_index *)s->resources);
}
