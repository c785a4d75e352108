// SPDX-License-Identifier: Apache-2.0
#include "missing_plugins.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "json_text.h"

/* Reads the type of the pool's IPAM plugin; false: it has none. */
static bool missing_plugins_type(const struct pool *pool, struct ipam_needs *ret)
{
	const char *text = pool->network ? pool->network->plan.ipam : "";
	json_auto_t *ipam = *text ? json_text_load(text, strlen(text), 0, NULL) : NULL;

	return ipam && ipam_needs_read(ret, ipam, NULL) == 0;
}

int pool_plugins_list(struct pool_plugin **ret, size_t *ret_n, const struct pool_config *config)
{
	struct pool_plugin *list = NULL, *slot;
	struct ipam_needs needs;
	size_t n = 0;

	for (size_t i = 0; i < config->n_pools; i++) {
		if (!missing_plugins_type(&config->pools[i], &needs))
			continue;
		slot = array_push(list, n);
		if (!slot) {
			free(list);
			return -ENOMEM;
		}
		pool_resource(&config->pools[i], slot->resource);
		memcpy(slot->type, needs.type, sizeof(slot->type));
	}
	*ret = list;
	*ret_n = n;
	return 0;
}

int missing_plugins_find(struct missing_plugin **ret, size_t *ret_n,
			 const struct pool_plugin *plugins, size_t n_plugins, const char *cni_path)
{
	struct missing_plugin *list = NULL, *slot;
	size_t n = 0;

	for (size_t i = 0; i < n_plugins; i++) {
		if (ipam_plugin_exists(cni_path, plugins[i].type))
			continue;
		slot = array_push(list, n);
		if (!slot) {
			free(list);
			return -ENOMEM;
		}
		memcpy(slot->resource, plugins[i].resource, sizeof(slot->resource));
		snprintf(slot->what, sizeof(slot->what),
			 "no IPAM plugin \"%s\" in %.240s (--cni-path)", plugins[i].type, cni_path);
	}
	*ret = list;
	*ret_n = n;
	return 0;
}
