/* privileges.h - the process gives away what it has no use for: capabilities (libcap-ng), new ones
 * by running programs, and system calls (libseccomp).
 *
 * All of it is a thread's and is inherited by those that it makes: to be called while there is one.
 * Nothing of it can be taken back. */
#pragma once

#include <stdint.h>

#include "err.h"

enum seccomp_mode {
	SECCOMP_ON,  /* what is not listed is refused, and the kernel logs it */
	SECCOMP_LOG, /* what is not listed is only logged by the kernel */
	SECCOMP_OFF,
};

/* Keeps of the capabilities those (bits by CAP_CHOWN ..) that there are, in the permitted and
 * effective sets, and in the bounding set as far as CAP_SETPCAP lets it; drops all others, all
 * inheritable and ambient ones, and sets no_new_privs. */
int privileges_drop_capabilities(uint64_t keep, struct err *);

/* calls: enum syscall_use. -EOPNOTSUPP: this kernel, or a build with a sanitizer, which makes calls
 * of its own, cannot. */
int privileges_filter_calls(unsigned calls, enum seccomp_mode, struct err *);

/* The effective capabilities of this thread; 0 when they cannot be read. */
uint64_t privileges_effective(void);
