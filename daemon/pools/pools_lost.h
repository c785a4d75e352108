/* SPDX-License-Identifier: Apache-2.0 */
/* pools_lost.h - finds a pool that has devices on this node now, but would have none with a new
 * configuration. That is usually a mistake: a misspelt selector, or a group that does not match any
 * more. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "plugin.h"

struct host;
struct pool_config;
struct resource_table;

struct pool_loss {
	char resource[RESOURCE_NAME_SIZE]; /* "" = nothing is lost */
	size_t n_devices;		   /* devices that it offers on this node now */
	size_t n_held;			   /* allocations of its devices to containers */
};

/* Returns the number of allocations of the resource to containers. */
size_t pools_lost_held(const struct resource_table *, const char *resource);
/* Finds the first resource that has devices now and would have none. only_held: considers only
 * resources with allocated devices.
 *
 * Devices in pods do not have all attributes that selectors test. So a pool whose current selectors
 * find nothing is not lost, as long as the new configuration has it. 1 = found, 0 = none, -ENOMEM;
 * *ret is untouched unless 1. */
int pools_lost(struct pool_loss *ret, const struct resource_table *now,
	       const struct pool_config *used, const struct pool_config *next, const struct host *,
	       bool only_held);
