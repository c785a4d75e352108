/* pod_status.h - pools with podStatus: a container reads how its own devices do in a folder of
 * each. Which folders there are to be, and what the container is told of them. Pure.
 *
 * <run-dir>/pod-status/<name>/status.json on the host is /run/rocelet/<name>/status.json in the
 * container, mounted read-only. docs/reference/containers.md says the same for those who read it.
 */
#pragma once

#include "pools.h"

#define POD_STATUS_DIR	  "pod-status"
#define POD_STATUS_FILE	  "status.json"
#define POD_STATUS_INSIDE "/run/rocelet"

/* The folder of a device: its ID with '-' for ':', which Kubernetes allows in no path of a mount
 * ("0000-03-00.2"). False: the ID cannot be a folder. */
bool pod_status_name(const char *id, char ret[PLUGIN_ID_SIZE]);

/* Adds a mount for each of these IDs, whose folders are there, and the variable that names their
 * files: ROCELET_STATUS_<PREFIX>_<NAME>, in the order of the IDs, with commas between. run_dir is
 * absolute. -ENOMEM: some of it is missing. */
int pod_status_grant(struct container_grant *, const struct pool *, const char *run_dir,
		     struct id_list ids);

/* A device that somebody has. */
struct pod_status_folder {
	char id[PLUGIN_ID_SIZE], name[PLUGIN_ID_SIZE];
	bool told;	   /* its pool says podStatus; else its folder stays if it is there */
	uint64_t since_ms; /* loop time of the Allocate; 0 = unknown: long ago */
};

struct pod_status_plan {
	struct pod_status_folder *folders; /* sorted by name */
	size_t n, n_told;
	bool certain; /* the kubelet has said who holds what: nobody has what is not in here */
};

/* Into the empty plan; -ENOMEM leaves it empty. */
int pod_status_plan_make(struct pod_status_plan *, const struct pools *,
			 const struct pod_list *held);
void pod_status_plan_done(struct pod_status_plan *);
/* To be removed: nobody has the device whose folder is called that. */
bool pod_status_is_stale(const struct pod_status_plan *, const char *name);
