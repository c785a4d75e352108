/* SPDX-License-Identifier: Apache-2.0 */
/* pool_lacks.h - finds pools whose pods cannot start because something is missing on the node. */
#pragma once

#include "pool_config.h"

/* Pools whose IPAM plugin is in none of the folders of cni_path, in the file's order. The list is
 * on the heap; -ENOMEM leaves *ret untouched. */
int pool_lacks_find(struct pool_lack **ret, size_t *ret_n, const struct pool_config *,
		    const char *cni_path);
