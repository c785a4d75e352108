/* SPDX-License-Identifier: Apache-2.0 */
/* world_steps.h - the simulated steps of attach_world.h, which run on workers, and its kubelet and
 * runtime. */
#pragma once

#include "attach_world.h"

extern const struct attach_ops world_ops;
void world_steps_use(struct world *);
struct world *world_of_steps(void);

struct holders *world_holders_open(struct world *);
void world_holders_close(void);
/* The kubelet answers soon if it is running. */
void world_ask_kubelet(struct world *);
/* Queries the kubelet about sandboxes that are newer than its list, as in holders.h. */
void world_query_new_sandboxes(struct world *, uint64_t since_ms);
