/* SPDX-License-Identifier: Apache-2.0 */
/* missing_plugins.h - finds the pools whose IPAM plugin is not installed on the node; their pods
 * cannot start. Pure, except for the search of the folders. */
#pragma once

#include "ipam_needs.h"
#include "pool_config.h"

/* A pool's IPAM plugin. */
struct pool_plugin {
	char resource[RESOURCE_NAME_SIZE];
	char type[IPAM_TYPE_SIZE];
};

/* Lists the pools that have an IPAM plugin, in the file's order. The list is on the heap; -ENOMEM
 * leaves *ret untouched. */
int pool_plugins_list(struct pool_plugin **ret, size_t *ret_n, const struct pool_config *);
/* Finds the plugins of the list that are in no folder of cni_path, with a message for each.
 * Ownership and errors as for pool_plugins_list(). Searches the folders, which may block; call it
 * on a worker. */
int missing_plugins_find(struct missing_plugin **ret, size_t *ret_n, const struct pool_plugin *,
			 size_t n, const char *cni_path);
