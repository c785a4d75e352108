/* cgroup_pod.h - the pod that a process belongs to, by the names that the kubelet gives its cgroups
 * (kubernetes/pkg/kubelet/cm/cgroup_manager_linux.go, pod_container_manager_linux.go). Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "model.h"

/* The uid of the pod in a cgroup's path, a line of /proc/PID/cgroup or the whole of it:
 *   /kubepods/burstable/pod<uid>/<container>                            cgroupfs driver
 *   /kubepods.slice/kubepods-pod<uid with _ for ->.slice/crio-<id>.scope  systemd driver
 * whatever stands before (a node in a container, --cgroup-root). A uid has 36 characters, or 32 for
 * a static pod. Of pods within pods the outermost: that is the one that this node knows. False: of
 * no pod, *ret untouched. */
bool cgroup_pod_uid(const char *text, size_t len, char ret[POD_UID_SIZE]);
