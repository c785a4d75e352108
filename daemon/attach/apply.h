/* SPDX-License-Identifier: Apache-2.0 */
/* apply.h - carries out the actions that decide.h returns. */
#pragma once

#include "decide.h"
#include "engine_state.h"

void apply(struct attach_engine *, const struct attach_actions *);
