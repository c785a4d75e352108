/* SPDX-License-Identifier: Apache-2.0 */
/* syscalls.h - lists the system calls that the daemon, its libraries and IPAM plugins make.
 *
 * Names that the architecture does not have are ignored: x86-64 has "open", arm64 only "openat". A
 * call that is not listed fails with -ENOSYS, as on a kernel without it, which libraries can
 * handle. A call in syscalls_fatal kills the process. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum syscall_use {
	CALLS_ALWAYS = 1,
	CALLS_BPF = 2,	  /* unless --no-bpf */
	CALLS_ATTACH = 4, /* namespaces, device nodes, the sandbox of IPAM plugins, and the plugins
			     in it */
};

struct syscall_row {
	const char *name;
	enum syscall_use use;
};

extern const struct syscall_row syscalls_allowed[];
extern const size_t n_syscalls_allowed;

/* A call that is allowed only with this value of an argument; several rows of a call are
 * alternatives. */
struct syscall_condition {
	const char *name;
	enum syscall_use use;
	unsigned argument; /* from 0 */
	uint64_t value;
};

extern const struct syscall_condition syscalls_conditional[];
extern const size_t n_syscalls_conditional;

/* Calls that kill the process that makes them: the daemon or an IPAM plugin. */
extern const char *const syscalls_fatal[];
extern const size_t n_syscalls_fatal;
