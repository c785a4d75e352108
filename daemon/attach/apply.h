/* SPDX-License-Identifier: Apache-2.0 */
/* apply.h - carries out the decided actions. */
#pragma once

#include "decide.h"
#include "engine_state.h"

void apply(struct attach_engine *, const struct attach_actions *);
