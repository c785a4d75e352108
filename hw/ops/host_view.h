/* SPDX-License-Identifier: Apache-2.0 */
/* host_view.h - how much of the host is visible to us: a container may not see its processes or its
 * mounts. Also the boot id. */
#pragma once

#include "attachment.h"
#include "hw.h"

struct host_view {
	bool first_pids; /* our PID namespace is the initial one */
	int runtime_pid; /* of the container runtime in our PID namespace; 0: not visible there, -1:
			    could not connect to its socket */
	int process_error; /* errno of reading the namespace of process 1, 0 = it worked */
	bool own_mounts;   /* our mount namespace is not that of process 1 */
	int root_error;	   /* errno of opening the root of process 1, 0 = it worked */
	bool follows;	   /* host mounts in /run/netns propagate to our mount namespace */
};

/* runtime_socket: path of the container runtime's socket, "" = unknown. Does not block. */
void host_view_read(const struct hw *, const char *runtime_socket, struct host_view *ret);
/* Pure: whether the view suffices to distinguish a removed namespace from an invisible one.
 * Otherwise a negative errno, with the missing permission in the message. -EAGAIN: unknown until
 * the runtime answers. */
int host_view_judge(const struct host_view *, struct err *);

/* Reads the kernel's boot id, chosen at random at each boot
 * (linux/Documentation/admin-guide/sysctl/kernel.rst, "random"): 36 characters. "" if it cannot be
 * read or has another length. */
void boot_id_read(const struct hw *, char ret[BOOT_ID_SIZE]);
