/* process_owner.h - which pod processes belong to. For workers: reading may wait for whoever
 * changes cgroups. */
#pragma once

#include "known_owners.h"

/* Of one process, whose cgroup an event has named (its id of cgroup v2; 0 = none). By that cgroup
 * if it can be found, as a tool that was started for one request has ended by now; else by
 * proc_fd's PID/cgroup. comm is only read where no cgroup is named. A process of no pod has uid "".
 * -ENOENT or -ESRCH: it has ended; other negative errno: cannot be read. */
int process_owner(int proc_fd, uint32_t pid, uint64_t cgroup, struct process_owner *ret);

/* Of many: the pids and cgroups of `asked` are read, each pid once; sorted by pid then. Those who
 * cannot be asked are left out. *ret is to be freed; the number of its items. */
size_t process_owners(int proc_fd, struct process_owner *asked, size_t n,
		      struct process_owner **ret);

/* The process a thread is of, from its status; 0: it has ended, or cannot be read. */
uint32_t process_of_thread(int proc_fd, uint32_t tid);
