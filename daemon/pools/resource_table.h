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
};

enum registration_state { REGISTRATION_WAITING, REGISTRATION_DONE, REGISTRATION_REFUSED };

struct resource_info {
	char name[RESOURCE_NAME_SIZE];
	bool shared;
	size_t first_device, n_devices; /* in devices[] */
	size_t first_member, n_members; /* in members[]: the functions behind them */
	unsigned gid_capacity; /* shared: slots the GID tables have room for; 0 = unknown */
	enum registration_state registration;
	bool left_registry;    /* see kubelet.h */
	char error[128];       /* the last error, or what the registration waits for; "" = none */
	char files_error[128]; /* why no container can get it: its files; "" = none */
	char hint[352];	       /* if there are no members: why, and what exists instead */
	uint64_t registrations, failures, lists;
	unsigned watchers;
	uint64_t allocations, refusals; /* containers that were given devices, or an error */
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
/* Deep copy into an empty table; -ENOMEM leaves it empty. */
int resource_table_copy(struct resource_table *dst, const struct resource_table *src);

/* The one container that has a device exclusively (if several of one pod have it, e.g. a claim's
 * device, the first), or NULL: free, shared, or not known yet. The device is found by the IDs that
 * device plugins use, ours or others: the function's bus name or the RDMA device's name ("" =
 * none). Borrowed. */
const struct pod_device *resource_table_holder(const struct resource_table *, const char *function,
					       const char *rdma);
const struct not_offered *resource_table_why(const struct resource_table *, const char *function);

/* --- the resources of a function -------------------------------------------------------------- */

/* A function and a resource that offers it: by an ID of its own, or (device NULL) as a shared
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

/* NULL: out of memory. */
struct resource_index *resource_index_new(const struct resource_table *);
void resource_index_free(struct resource_index *);
/* Returns the first of *ret_n entries of a function. */
const struct resource_entry *resource_index_find(const struct resource_index *,
						 const char *function, size_t *ret_n);
