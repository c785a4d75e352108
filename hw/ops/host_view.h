/* host_view.h - what of the host can be seen from where we run: a container may lack its processes
 * and its mounts; and which boot it is. */
#pragma once

#include "attachment.h"
#include "hw.h"

struct host_view {
	bool first_pids;   /* our PID namespace is the machine's first one */
	int runtime_pid;   /* of the container runtime; 0: it is in no namespace that we see, -1:
			      nobody could be asked */
	int process_error; /* of looking into process 1, 0 = it can be */
	bool own_mounts;   /* ours are not those of process 1 */
	int root_error;	   /* of looking below the root of process 1, 0 = it can be */
	bool follows;	   /* what the host mounts in /run/netns appears here */
};

/* runtime_socket: of the container runtime, "" = not known. Does not wait. */
void host_view_read(const struct hw *, const char *runtime_socket, struct host_view *ret);
/* Pure: is it enough to tell a namespace that is gone from one that is not to be seen? Otherwise
 * what is missing, in one sentence. -EAGAIN: that will be known when the runtime answers. */
int host_view_judge(const struct host_view *, struct err *);

/* Which boot of the node this is, by the kernel's own id, chosen at random each time
 * (linux/Documentation/admin-guide/sysctl/kernel.rst, "random"): 36 characters. "" when it cannot
 * be read, or is nothing of the kind. */
void boot_id_read(const struct hw *, char ret[BOOT_ID_SIZE]);
