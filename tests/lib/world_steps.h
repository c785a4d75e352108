/* world_steps.h - what attach_world.h's workers and runtime do. */
#pragma once

#include "attach_world.h"

extern const struct attach_ops world_ops;
void world_steps_use(struct world *);
struct world *world_of_steps(void);
