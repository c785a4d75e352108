/* SPDX-License-Identifier: Apache-2.0 */
/* engine_start.h - reads the journal of the previous process. */
#pragma once

#include "engine_state.h"

/* Opens the journal (if it is not needed, only if it exists) and reads it on a worker; journal_read
 * is false until that has ended. A tick follows. */
void journal_begin(struct attach_engine *, bool needed);
