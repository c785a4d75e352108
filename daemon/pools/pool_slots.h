/* SPDX-License-Identifier: Apache-2.0 */
/* pool_slots.h - the slots of a shared pool with known members. Pure; part of pools_build(). */
#pragma once

#include "host_index.h"
#include "pools.h"

/* Maximum length of an HCA's name if its slots are named after it: "mlx5_0-65535" must fit an
 * ID. */
#define SLOT_NAME_MAX (PLUGIN_ID_SIZE - 1 - (sizeof("-65535") - 1))

/* Returns WHY_NOT_NONE if the function matches the selector and, for a shared pool, has such an
 * RDMA device; else the first failed test. */
enum why_not pool_match(const struct pool *, const struct selector *, const struct candidate *);
/* Adds the slots to the view. -ENOMEM: some are missing. */
int pool_slots_offer(struct pool_view *, const struct host_index *);
/* Adds the known functions of an ID that is allocated, but would not be offered now. */
void pool_slots_held(const struct pool_view *, const struct host_index *, struct offer *);

/* Returns the NUMA node that all members of an offer share; -1 = they share none. */
int pool_offer_numa(const struct pool_view *, const struct offer *, const struct host_index *);
