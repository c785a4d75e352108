/* SPDX-License-Identifier: Apache-2.0 */
/* resources.h - the core of the device plugin: it computes the lists for the kubelet, and the
 * answers to its requests, from configuration, inventory and allocations.
 *
 * Everything is computed again whenever one of the three changes (pools_build(), health_judge());
 * the changes of a burst are gathered for a few milliseconds. Nothing is advertised before the
 * devices and the kubelet's allocations have been read. */
#pragma once

#include "engine.h"
#include "err.h"
#include "event.h"
#include "holders.h"
#include "hw.h"
#include "inventory.h"
#include "kubelet.h"
#include "pool_config.h"
#include "resource_table.h"

struct uv_loop_s;
struct resources;

struct resources_opts {
	struct kubelet_opts kubelet;
	struct kubelet_sockets *inherited; /* from our predecessor; ownership passes. NULL: none */
	const char *devinfo_dir, *cdi_dir; /* borrowed */
	const char *run_dir;	 /* parent of the folders that containers read; NULL: none */
	bool dry_run;		 /* only log and publish decisions: send nothing to the kubelet */
	struct holders *holders; /* containers and their devices, by the kubelet's list */
	struct attach_engine *engine; /* NULL: no devices are attached by this daemon */
};

struct resources_hooks {
	/* The table has changed. */
	void (*changed)(void *arg);
	/* An event about a pod's device. */
	void (*event)(const struct event *, void *arg);
	/* The kubelet emptied device-plugins/: the socket that serves metrics there was removed,
	 * too. */
	void (*sockets_swept)(void *arg);
	/* The current status text of a device for its container, allocated on the heap; NULL:
	 * nothing new. May be NULL. */
	char *(*status)(const char *function, size_t *ret_len, void *arg);
	void *arg;
};

/* Minimum time between two writes of the status files, which follow samples. */
#define RESOURCES_STATUS_MS 1000

/* Starts the device plugin. hw, inventory, holders and engine must outlive the result. Starts with
 * an empty configuration. */
int resources_open(struct resources **ret, struct uv_loop_s *, const struct hw *,
		   const struct inventory *, const struct resources_opts *,
		   const struct resources_hooks *, struct err *);
/* Takes ownership of the configuration; existing allocations are kept. -ENOMEM: the old one
 * stays. */
int resources_configure(struct resources *, struct pool_config *);
/* Returns the configuration in use; borrowed until the next resources_configure(). */
const struct pool_config *resources_config(const struct resources *);
/* Call once the devices have been scanned, and after each change of the inventory. */
void resources_inputs_changed(struct resources *);
/* Call when the attachments have changed, because this may change the health of their devices. */
void resources_attachments_changed(struct resources *);
/* Call after each sample; sample_ms is its loop time. From now on, the hook `status` returns the
 * text of this sample; the status files are written soon. */
void resources_sampled(struct resources *, uint64_t sample_ms);
/* True if any pool has podStatus, i.e. status files for its pods. */
bool resources_have_pod_status(const struct resources *);
/* Called by struct holders_hooks.held, with its arguments. */
void resources_held(struct resources *, bool changed, uint64_t answered_ms);
/* Returns the table of the last decision; borrowed until the next one. */
const struct resource_table *resources_table(const struct resources *);
/* Closes the plugin; the object is freed when the loop has no handles left. May be NULL. */
void resources_close(struct resources *);
/* Like resources_close(), but passes the sockets to a successor: see kubelet_hand_over(). */
void resources_hand_over(struct resources *, struct kubelet_sockets *ret);
