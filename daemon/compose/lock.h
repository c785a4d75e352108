/* lock.h - one rocelet at a time has a folder: the state folder, for two of them would undo each
 * other's attachments, and the run folder, for each would take the other's socket.
 *
 * The lock is the kernel's (flock(2)): it ends with the process, however that ends, and what stands
 * in the file "lock" only says who has it. Both the file and the folder are locked: the file
 * because only its owner can open it, the folder because its lock outlives a file that is deleted.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "err.h"
#include "hw.h"

struct lock {
	int file_fd, folder_fd; /* -1 = not had */
};

#define LOCK_NONE ((struct lock){-1, -1})

/* Makes the folder if need be, with that mode. self: what others are told of us, a line. -EALREADY:
 * somebody else has it, and the sentence says who, as far as it is known. Any other error: it
 * cannot be locked, or not made. */
int lock_take(struct lock *, const struct hw *, const char *folder, mode_t, const char *self,
	      struct err *);
/* Tries until that is another error than -EALREADY, or 0, for so long. meanwhile (NULL: nothing) is
 * called after each try, and told what is left of that. */
int lock_wait(int (*attempt)(void *arg, struct err *), uint64_t wait_ms,
	      void (*meanwhile)(uint64_t left_ms, void *arg), void *arg, struct err *);
/* Nobody has it, as far as can be seen. For who has had it; who takes it in this very moment may
 * have to try again. */
bool lock_is_free(const char *folder);
/* It is of this folder, under whatever name. */
bool lock_is_of(const struct lock *, const char *folder);
/* The file goes, too. */
void lock_release(struct lock *);
