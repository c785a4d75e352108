/* SPDX-License-Identifier: Apache-2.0 */
/* pools_lost.h - would a new configuration take all devices on this node from a pool in use? That
 * is usually a slip: a misspelt selector, or a group that does not match any more. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "plugin.h"

struct host;
struct pool_config;
struct resource_table;

struct pool_loss {
	char resource[RESOURCE_NAME_SIZE]; /* "" = nothing is lost */
	size_t n_devices;		   /* that it offers on this node now */
	size_t n_held;			   /* allocations of it to containers */
};

/* Number of allocations of the resource to containers. */
size_t pools_lost_held(const struct resource_table *, const char *resource);
/* Finds the first resource that has devices now and would have none. only_held: of those that
 * containers have devices of.
 *
 * Devices in pods lack some attributes that selectors need, so a pool whose own selectors find
 * nothing now is not lost as long as it is in the new configuration. 1 = found, 0 = none, -ENOMEM;
 * *ret is untouched unless 1. */
int pools_lost(struct pool_loss *ret, const struct resource_table *now,
	       const struct pool_config *used, const struct pool_config *next, const struct host *,
	       bool only_held);
