/* apply.h - does what was decided. */
#pragma once

#include "decide.h"
#include "engine_state.h"

void apply(struct attach_engine *, const struct attach_actions *);
