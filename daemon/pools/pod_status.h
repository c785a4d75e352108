/* SPDX-License-Identifier: Apache-2.0 */
/* pod_status.h - pools with podStatus: a container reads the status of each of its devices in a
 * folder. Decides which folders to keep, and what the container gets. Pure.
 *
 * <run-dir>/pod-status/<name>/status.json on the host is /run/rocelet/<name>/status.json in the
 * container, mounted read-only. For users: docs/reference/containers.md. */
#pragma once

#include "pools.h"

#define POD_STATUS_DIR	  "pod-status"
#define POD_STATUS_FILE	  "status.json"
#define POD_STATUS_INSIDE "/run/rocelet"

/* Writes the folder name of a device: its ID with '-' for ':', which Kubernetes does not allow in a
 * mount path ("0000-03-00.2"). False: the ID cannot be a folder name. */
bool pod_status_name(const char *id, char ret[PLUGIN_ID_SIZE]);

/* Adds a mount for each of these IDs, and the variable that lists their files. The folders must
 * exist. The variable is ROCELET_STATUS_<PREFIX>_<NAME>, in the order of the IDs, separated by
 * commas. run_dir is absolute. -ENOMEM: the grant is incomplete. */
int pod_status_grant(struct container_grant *, const struct pool *, const char *run_dir,
		     struct id_list ids);

/* The folder of a device that is allocated. */
struct pod_status_folder {
	char id[PLUGIN_ID_SIZE], name[PLUGIN_ID_SIZE];
	bool has_status;   /* its pool has podStatus; if not, an existing folder is kept */
	uint64_t since_ms; /* loop time of the Allocate; 0 = unknown, before our start */
};

struct pod_status_plan {
	struct pod_status_folder *folders; /* sorted by name */
	size_t n, n_with_status;
	bool certain; /* the allocations are known, so a device that is not listed is free */
};

/* Fills an empty plan; -ENOMEM leaves it empty. */
int pod_status_plan_make(struct pod_status_plan *, const struct pools *,
			 const struct pod_list *held);
void pod_status_plan_done(struct pod_status_plan *);
/* True if the folder of this name must be removed, because its device is free. */
bool pod_status_is_stale(const struct pod_status_plan *, const char *name);
