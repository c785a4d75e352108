/* SPDX-License-Identifier: Apache-2.0 */
/* resource_table.h - the advertised devices and their allocations as plain values, for the metrics
 * page and the API. Pure.
 *
 * Everything is copied: the table outlives the configuration and the inventory that it was made
 * from. */
#pragma once

#include <stdint.h>

#include "model.h"
#include "plugin.h"
#include "pod_devices.h"
#include "reservations.h"

/* One ID of a resource. */
struct resource_device {
	char id[PLUGIN_ID_SIZE];
	unsigned reasons; /* HEALTH_BIT()s after damping; 0 = healthy */
	enum reservation_state state;
	uint64_t unhealthy_unix_ms; /* when it became unhealthy; 0 = it is healthy */
	bool or_earlier;	    /* it was unhealthy when it was first judged */
};

enum registration_state { REGISTRATION_WAITING, REGISTRATION_DONE, REGISTRATION_REFUSED };

struct resource_info {
	char name[RESOURCE_NAME_SIZE];
	bool shared;
	size_t first_device, n_devices; /* in devices[] */
	size_t first_member, n_members; /* in members[]: the functions behind them */
	unsigned gid_capacity; /* shared: number of slots that fit the GID tables; 0 = unknown */
	enum registration_state registration;
	bool left_registry;    /* see kubelet.h */
	char error[128];       /* the last error, or the event that the registration waits for; "" =
				* none */
	char files_error[128]; /* the error of its files, because of which no container can get it;
				* "" = none */
	char hint[352];	       /* if there are no members: the reason, and the available values */
	uint64_t registrations, failures, lists;
	unsigned watchers;
	uint64_t allocations, refusals; /* numbers of containers that got devices, and that got an
					 * error */
};

/* A function that no resource offers, and why. */
struct not_offered {
	char function[DEV_ID_SIZE];
	char why[128];
};

struct resource_table {
	uint64_t generation; /* incremented by every change; 0 = nothing is configured */
	struct resource_info *resources;
	size_t n_resources;
	struct resource_device *devices;
	size_t n_devices;
	char (*members)[DEV_ID_SIZE];
	size_t n_members;
	struct not_offered *not_offered; /* sorted by function */
	size_t n_not_offered;
	struct pod_list held; /* reserved or held; sorted */
	char held_error[256]; /* why `held` is not the kubelet's current list; "" = it is */
};

void resource_table_done(struct resource_table *);
/* Copies a table into an empty one; -ENOMEM leaves it empty. */
int resource_table_copy(struct resource_table *dst, const struct resource_table *src);

/* A resource's device IDs. */
struct resource_counts {
	size_t healthy, allocated;
	/* IDs that the kubelet could allocate now: healthy, neither reserved nor held, with room in
	 * the GID tables; 0 if the resource is not registered or has a files_error. */
	size_t free;
	/* False while the kubelet's list was never read: containers may have more devices than are
	 * counted as allocated, so fewer may be free. That none is free is known even then. */
	bool allocated_known, free_known;
};

/* Counts the IDs of a resource. The API, rocectl and the metrics (and so the alerts) use this one
 * function. */
void resource_table_count(const struct resource_table *, const struct resource_info *,
			  struct resource_counts *ret);

/* Returns the container that has a device exclusively, or the first one if several containers of
 * one pod have it (a claim's device). NULL: the device is free, shared, or not known yet. The
 * device is found by the IDs of device plugins, ours or others: the function's bus name or the RDMA
 * device's name ("" = none). Borrowed. */
const struct pod_device *resource_table_holder(const struct resource_table *, const char *function,
					       const char *rdma);
/* True if a container's device is a slot of this HCA: its ID is the RDMA device's name and a
 * number, "mlx5_0-7", or its shared resource has no other HCA. */
bool resource_table_is_slot(const struct resource_table *, const struct pod_device *,
			    const char *function, const char *rdma);
const struct not_offered *resource_table_why(const struct resource_table *, const char *function);

/* --- the resources of a function -------------------------------------------------------------- */

/* A function and a resource that offers it: under an ID of its own, or (device NULL) as a shared
 * resource. */
struct resource_entry {
	const char *function;
	const struct resource_info *resource;
	const struct resource_device *device;
};

/* Borrows the table. */
struct resource_index {
	const struct resource_table *table;
	struct resource_entry *entries; /* sorted by function; owned */
	size_t n;
};

/* Creates an index of the table. NULL: out of memory. */
struct resource_index *resource_index_new(const struct resource_table *);
void resource_index_free(struct resource_index *);
/* Returns the first of *ret_n entries of a function. */
const struct resource_entry *resource_index_find(const struct resource_index *,
						 const char *function, size_t *ret_n);
