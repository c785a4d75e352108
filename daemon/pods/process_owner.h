/* SPDX-License-Identifier: Apache-2.0 */
/* process_owner.h - finds the pods of processes. For workers: reading may block while another
 * process changes cgroups. */
#pragma once

#include "known_owners.h"

/* Looks up one process. cgroup: its cgroup v2 id from an event, 0 = none. Uses that cgroup if it
 * still exists, because a short-lived process may have exited by now; else proc_fd's PID/cgroup.
 * comm is only read if no cgroup is given. A process outside of pods has uid "". -ENOENT or -ESRCH:
 * it has exited; other negative errno: cannot be read. */
int process_owner(int proc_fd, uint32_t pid, uint64_t cgroup, struct process_owner *ret);

/* Looks up many: the pids and cgroups in `asked`, each pid once, and sorts them by pid. Processes
 * that cannot be read are left out. The caller frees *ret. Returns the number of its items. */
size_t process_owners(int proc_fd, struct process_owner *asked, size_t n,
		      struct process_owner **ret);

/* The process of a thread, from its status file; 0: it has exited, or cannot be read. */
uint32_t process_of_thread(int proc_fd, uint32_t tid);
