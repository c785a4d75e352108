/* SPDX-License-Identifier: Apache-2.0 */
/* shim_spool.h - stores DEL requests while no daemon answers: files in STATE_DIR/cni/del/, each the
 * body of a request, which the next daemon processes. */
#pragma once

#include "err.h"

/* Writes a request durably as a new file RANDOM.json. While it is being written, its name starts
 * with a dot, which the daemon ignores, and the file is locked (flock()); the daemon removes such
 * files if they are not locked. Folders are created as needed. -EPERM if another user can write to
 * one of them; below STATE_DIR, they must not be links. */
int shim_spool_put(const char *state_dir, const char *body, struct err *);
