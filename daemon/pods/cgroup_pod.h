/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup_pod.h - finds the pod of a process by the names that the kubelet gives cgroups
 * (kubernetes/pkg/kubelet/cm/cgroup_manager_linux.go, pod_container_manager_linux.go). Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "model.h"

/* Finds the pod's uid in a cgroup's path, a line of /proc/PID/cgroup or the whole file:
 *   /kubepods/burstable/pod<uid>/<container>                            cgroupfs driver
 *   /kubepods.slice/kubepods-pod<uid with _ for ->.slice/crio-<id>.scope  systemd driver
 * with any prefix (a node in a container, --cgroup-root). A uid has 36 characters, or 32 for a
 * static pod. Of nested pods returns the outermost, which is the one of this node. False: not in a
 * pod, *ret untouched. */
bool cgroup_pod_uid(const char *text, size_t len, char ret[POD_UID_SIZE]);
