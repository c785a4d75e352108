/* SPDX-License-Identifier: Apache-2.0 */
/* pool_slots.h - the slots of a shared pool with known members. Pure; part of pools_build(). */
#pragma once

#include "host_index.h"
#include "pools.h"

/* Maximum length of an HCA's name if its slots are named after it: "mlx5_0-65535" must fit an
 * ID. */
#define SLOT_NAME_MAX (PLUGIN_ID_SIZE - 1 - (sizeof("-65535") - 1))

/* Returns the RDMA device through which a shared pool uses a function: in the host's namespace and
 * with its nodes. NULL: *ret_why is what is missing. */
const struct rdma_dev *pool_slots_rdma(const struct pool *, const struct fn_parts *,
				       enum why_not *ret_why);
/* Does a function match one of the pool's selectors and, for a shared pool, have such an RDMA
 * device? */
enum why_not pool_match(const struct pool *, const struct selector *, const struct candidate *);
/* -ENOMEM leaves the view partly filled. */
int pool_slots_offer(struct pool_view *, const struct host_index *);
/* For an ID that is held but not offered: adds the functions known to be behind it. */
void pool_slots_held(const struct pool_view *, const struct host_index *, struct offer *);

/* The NUMA node that all members of an offer share; -1 if they do not. */
int pool_offer_numa(const struct pool_view *, const struct offer *, const struct host_index *);
