/* SPDX-License-Identifier: Apache-2.0 */
/* privileges.h - drops unneeded privileges of the process: capabilities (libcap-ng), new privileges
 * of executed programs, and system calls (libseccomp). These are properties of a thread, inherited
 * by the threads that it creates, so the functions must be called while there is only one thread.
 * They cannot be undone. */
#pragma once

#include <stddef.h>
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

/* Filters system calls. calls: bits of enum syscall_use. -EOPNOTSUPP: not supported by this kernel,
 * or by a build with a sanitizer, which makes additional calls. */
int privileges_filter_calls(unsigned calls, enum seccomp_mode, struct err *);

/* Returns the effective capabilities of this thread; 0 if they cannot be read. */
uint64_t privileges_effective(void);

/* --- the Linux security module that confines this process, for messages ---------------------- */

#define CONFINEMENT_SIZE 160

/* Pure: describes the text of /proc/PID/attr/current as "SELinux type container_t" or "AppArmor
 * profile cri-containerd.apparmor.d"; "" if the process is not confined. SELinux labels are
 * user:role:type:level (selinux(8)), AppArmor's are "NAME (MODE)" or "unconfined" (apparmor(7));
 * only mode enforce confines. */
void confinement_describe(const char *label, char ret[CONFINEMENT_SIZE]);
/* Describes this process; "" also if the label cannot be read. */
void confinement_read(char ret[CONFINEMENT_SIZE]);
