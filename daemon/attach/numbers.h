/* SPDX-License-Identifier: Apache-2.0 */
/* numbers.h - numbers of device nodes that containers of running pods may open. A container's
 * device cgroup allows them for as long as it runs, even if another device has such a number by
 * then. */
#pragma once

#include "engine_state.h"

/* Returns all numbers in use except those of this attachment, as names below /dev/infiniband, on
 * the heap. -ENOMEM. */
int numbers_taken(const struct attach_engine *, const struct attachment *,
		  char (**ret)[CHARDEV_NAME_SIZE], size_t *ret_n);
/* Checks that the soft-RoCE device that was just attached has none of these numbers. -EBUSY: it has
 * one, because another attach ended meanwhile and the device of its pod was removed. The message
 * names the other pod. */
int numbers_check(const struct attach_engine *, const struct attachment *, struct err *);
