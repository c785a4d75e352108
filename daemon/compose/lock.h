/* SPDX-License-Identifier: Apache-2.0 */
/* lock.h - locks a folder for one rocelet at a time: the state folder, because two would undo each
 * other's attachments, and the run folder, because each would take the other's socket.
 *
 * The lock is the kernel's (flock(2)), so it ends with the process in any case; the contents of the
 * file "lock" only describe its owner. Both the file and the folder are locked: the file because
 * only its owner can open it, the folder because its lock survives a deletion of the file. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "err.h"
#include "hw.h"

struct lock {
	int file_fd, folder_fd; /* -1 = not locked */
};

#define LOCK_NONE ((struct lock){-1, -1})

/* Locks the folder, and creates it if needed, with that mode. self: one line that describes us to
 * others. -EALREADY: locked by another process, which the message describes as far as known. Other
 * errors: the folder cannot be locked or created. */
int lock_take(struct lock *, const struct hw *, const char *folder, mode_t, const char *self,
	      struct err *);
/* Retries while `attempt` returns -EALREADY, for at most wait_ms. meanwhile (may be NULL) is called
 * after each try with the remaining time. */
int lock_wait(int (*attempt)(void *arg, struct err *), uint64_t wait_ms,
	      void (*meanwhile)(uint64_t left_ms, void *arg), void *arg, struct err *);
/* True if the lock is free; for a process that has released it. The check takes the lock briefly,
 * so another process may have to retry. */
bool lock_is_free(const char *folder);
/* True if it is the lock of this folder, possibly under another path. */
bool lock_is_of(const struct lock *, const char *folder);
/* Releases the lock and removes the file. */
void lock_release(struct lock *);
