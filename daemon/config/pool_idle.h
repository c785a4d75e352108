/* SPDX-License-Identifier: Apache-2.0 */
/* pool_idle.h - keys of a pool in our own grammar that are valid, but have no effect because of
 * another key of the same pool. Pure. */
#pragma once

#include "pool_parse.h"

/* Returns why the key has no effect in this pool: 'with "softRoce": true'. NULL: it has one.
 * group: the key whose object contains it, "selectors" or "hold"; NULL = it is a key of the pool.
 */
const char *pool_idle_why(const struct pool *, const char *group, const char *key);
/* Warns about each such key of the item from which the pool was read, and adds it to
 * p->config->idle. */
int pool_idle_check(struct parse *p, const struct json_place *, const json_t *item,
		    const struct pool *);
