/* process_owner.h - which pod a process belongs to. For workers: reading waits for whoever changes
 * cgroups. */
#pragma once

#include "qp_table.h"

/* From proc_fd's PID/cgroup and PID/comm. A process of no pod has uid "". -ENOENT or -ESRCH: it has
 * ended; other negative errno: cannot be read. */
int process_owner(int proc_fd, uint32_t pid, struct qp_owner *ret);
/* The process a thread is of, from its status; 0: it has ended, or cannot be read. */
uint32_t process_of_thread(int proc_fd, uint32_t tid);
