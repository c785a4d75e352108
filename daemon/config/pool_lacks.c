// SPDX-License-Identifier: Apache-2.0
#include "pool_lacks.h"

#include <jansson.h>
#include <stdlib.h>

#include "array.h"
#include "ipam_needs.h"
#include "json_text.h"

/* The type of the pool's IPAM plugin; false: it has none. */
static bool pool_lacks_type(const struct pool *pool, struct ipam_needs *ret)
{
	const char *text = pool->network ? pool->network->plan.ipam : "";
	json_t *ipam = *text ? json_text_load(text, strlen(text), 0, NULL) : NULL;
	bool has = ipam && ipam_needs_read(ret, ipam, NULL) == 0;

	json_decref(ipam);
	return has;
}

int pool_lacks_find(struct pool_lack **ret, size_t *ret_n, const struct pool_config *config,
		    const char *cni_path)
{
	struct pool_lack *list = NULL, *slot;
	struct ipam_needs needs;
	size_t n = 0;

	for (size_t i = 0; i < config->n_pools; i++) {
		if (!pool_lacks_type(&config->pools[i], &needs) ||
		    ipam_plugin_exists(cni_path, needs.type))
			continue;
		slot = array_push(list, n);
		if (!slot) {
			free(list);
			return -ENOMEM;
		}
		pool_resource(&config->pools[i], slot->resource);
		snprintf(slot->what, sizeof(slot->what),
			 "no IPAM plugin \"%s\" in %.240s (--cni-path)", needs.type, cni_path);
	}
	*ret = list;
	*ret_n = n;
	return 0;
}
