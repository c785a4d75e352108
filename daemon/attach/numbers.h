/* numbers.h - device nodes that containers of living pods may open. Their device cgroups allow the
 * numbers that they were given for as long as they run, whatever device has them by then. */
#pragma once

#include "engine_state.h"

/* All but those of this attachment itself, as names below /dev/infiniband; heap. -ENOMEM. */
int numbers_taken(const struct attach_engine *, const struct attachment *,
		  char (**ret)[CHARDEV_NAME_SIZE], size_t *ret_n);
/* The soft-RoCE device of what was just attached has such a number: another attach has ended
 * meanwhile, and its pod has lost its device. -EBUSY, and the sentence names the other pod. */
int numbers_check(const struct attach_engine *, const struct attachment *, struct err *);
