/* world_steps.h - what attach_world.h's workers do, and who tells it who holds what. */
#pragma once

#include "attach_world.h"

extern const struct attach_ops world_ops;
void world_steps_use(struct world *);
struct world *world_of_steps(void);

struct holders *world_holders_open(struct world *);
void world_holders_close(void);
/* The kubelet answers soon, if it lives. */
void world_ask_kubelet(struct world *);
/* It is asked about sandboxes that its list may not know, as holders.h does. */
void world_ask_whose(struct world *, uint64_t since_ms);
