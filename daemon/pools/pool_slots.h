/* pool_slots.h - the slots of a shared pool whose members are known. Pure; part of pools_build().
 */
#pragma once

#include "host_index.h"
#include "pools.h"

/* Of an HCA whose slots are called after it: "mlx5_0-65535" must fit an ID. */
#define SLOT_NAME_MAX (PLUGIN_ID_SIZE - 1 - (sizeof("-65535") - 1))

/* The RDMA device through which a shared pool uses a function: in the host's namespace and with its
 * nodes. NULL: *ret_why says what is missing. */
const struct rdma_dev *pool_slots_rdma(const struct pool *, const struct fn_parts *,
				       enum why_not *ret_why);
/* What a pool asks of a function by one of its selectors: that it matches, and of a shared pool
 * that it has such an RDMA device. */
enum why_not pool_match(const struct pool *, const struct selector *, const struct candidate *);
/* -ENOMEM leaves the view as far as it came. */
int pool_slots_offer(struct pool_view *, const struct host_index *);
/* One that is held and not offered: what is known to be behind it. */
void pool_slots_held(const struct pool_view *, const struct host_index *, struct offer *);

/* Of an offer's members: the one they share, -1 when they do not. */
int pool_offer_numa(const struct pool_view *, const struct offer *, const struct host_index *);
