/* SPDX-License-Identifier: Apache-2.0 */
/* gate.h - containers that wait for their devices (PreStartContainer). */
#pragma once

#include "engine_state.h"

/* While containers wait, requests new lists from the kubelet and the runtime at intervals. */
void gates_request_lists(struct attach_engine *);
