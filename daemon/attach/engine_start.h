/* SPDX-License-Identifier: Apache-2.0 */
/* engine_start.h - reads the journal of the previous process. */
#pragma once

#include "engine_state.h"

/* Opens the journal and reads it on a worker. A missing journal is created only if needed.
 * journal_read is false until the worker has ended; its end causes a tick. */
void journal_begin(struct attach_engine *, bool needed);
