/* SPDX-License-Identifier: Apache-2.0 */
/* process_owner.h - finds the pods of processes. For workers: reading may block while another
 * process changes cgroups. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "model.h"
#include "owners.h"

/* Looks up one process. cgroup: its cgroup v2 id from an event, 0 = none. Uses that cgroup if it
 * can be opened, because a short-lived process may have exited by now; else proc_fd's PID/cgroup,
 * and only then reads comm. A process outside of pods has uid "". -ENOENT or -ESRCH: it has exited;
 * other negative errno: cannot be read. */
int process_owner(int proc_fd, uint32_t pid, uint64_t cgroup, struct process_owner *ret);

/* Looks up many processes: the pids and cgroups in `processes`, each pid once. Sorts the result by
 * pid. Processes that cannot be read are omitted. The caller frees *ret. Returns the number of its
 * items. */
size_t process_owners(int proc_fd, struct process_owner *processes, size_t n,
		      struct process_owner **ret);

/* Returns the process of a thread, from its status file; 0: the thread has exited, or cannot be
 * read. */
uint32_t process_of_thread(int proc_fd, uint32_t tid);

/* Finds the pod's uid in a cgroup's path, a line of /proc/PID/cgroup or the whole file:
 *   /kubepods/burstable/pod<uid>/<container>                            cgroupfs driver
 *   /kubepods.slice/kubepods-pod<uid with _ for ->.slice/crio-<id>.scope  systemd driver
 * with any prefix (a node in a container, --cgroup-root). The kubelet sets these names
 * (kubernetes/pkg/kubelet/cm/cgroup_manager_linux.go, pod_container_manager_linux.go). A uid has 36
 * characters, or 32 for a static pod. Of nested pods returns the outermost, which is the one of
 * this node. False: not in a pod, *ret untouched. */
bool cgroup_pod_uid(const char *text, size_t len, char ret[POD_UID_SIZE]);
