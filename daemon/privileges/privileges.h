/* SPDX-License-Identifier: Apache-2.0 */
/* privileges.h - drops unneeded privileges of the process: capabilities (libcap-ng), new ones by
 * running programs, and system calls (libseccomp).
 *
 * These are properties of a thread, inherited by the threads that it creates: call while there is
 * only one. None of it can be undone. */
#pragma once

#include <stdint.h>

#include "err.h"

enum seccomp_mode {
	SECCOMP_ON,  /* calls that are not listed fail, and the kernel logs them */
	SECCOMP_LOG, /* the kernel only logs calls that are not listed */
	SECCOMP_OFF,
};

/* Keeps those of these capabilities (bits by CAP_CHOWN ..) that the process has, in the permitted
 * and effective sets, and in the bounding set if CAP_SETPCAP permits; drops all others, and all
 * inheritable and ambient ones; sets no_new_privs. */
int privileges_drop_capabilities(uint64_t keep, struct err *);

/* calls: enum syscall_use. -EOPNOTSUPP: not supported by this kernel, or by a build with a
 * sanitizer, which makes calls of its own. */
int privileges_filter_calls(unsigned calls, enum seccomp_mode, struct err *);

/* The effective capabilities of this thread; 0 if they cannot be read. */
uint64_t privileges_effective(void);
