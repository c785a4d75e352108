/* engine_start.h - the journal of the life before. */
#pragma once

#include "engine_state.h"

/* Opens it, if need be (otherwise only when there is one), and reads it on a worker; journal_read
 * is false until that is done. A tick follows. */
void journal_begin(struct attach_engine *, bool needed);
