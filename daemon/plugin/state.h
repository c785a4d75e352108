/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - the state of the device plugin, private to the files that implement resources.h. */
#pragma once

#include <uv.h>

#include "allocation.h"
#include "engine.h"
#include "granted_nodes.h"
#include "health.h"
#include "job.h"
#include "pod_status.h"
#include "pools.h"
#include "resources.h"
#include "timer.h"

/* State of one ID of a resource that is kept between decisions. */
struct tracked {
	char id[PLUGIN_ID_SIZE];
	struct health health;
	uint64_t unhealthy_unix_ms; /* health.unhealthy_ms by the wall clock of that moment */
};

/* One resource that is served to the kubelet. */
struct resource {
	struct resources *owner;
	char name[RESOURCE_NAME_SIZE];
	struct kubelet_plugin *plugin; /* NULL: could not be served, retried at the next decision */
	char error[128];	 /* why it could not be served (was logged); "" = it is served */
	struct tracked *tracked; /* one per offer of its view, in the same order */
	size_t n_tracked;
	bool has_cdi;	       /* its CDI specification is up to date with the last decision */
	char files_error[128]; /* why has_cdi is false */
	uint64_t allocations, refusals;
};

/* An Allocate that waits for the kubelet's list; a PreStartContainer that waits until its devices
 * are in the pod. */
struct pending_allocate;
struct prestart;

/* Generations of the inputs from which pools were built. */
struct built_from {
	uint64_t inventory, reservations;
};

/* Files per batch: their texts are made in one turn of the loop. */
#define STATUS_BATCH 16

/* A file to write; owned. */
struct status_text {
	int folder; /* descriptor */
	char *text;
	size_t len;
};

/* State of the files in which containers read the status of their own devices (status.c). */
struct pod_status {
	char *run_dir; /* absolute, for the mounts; NULL: no status folders. Owned */
	bool failing;  /* a failure was logged and persists */
	bool followed; /* the folders match the decision and the allocations at `generation` */
	uint64_t generation;
	bool to_purge;		     /* folders were renamed for removal and have to be purged */
	struct pod_status_plan plan; /* of this round */
	size_t next;		     /* index into the plan */
	uint64_t round_ms;	     /* when the round began */
	uint64_t rates_from_ms, sample_ms; /* the last two samples, for rates between them */
	bool missing, missing_logged; /* another program removed a folder in this round; this was
				       * logged */
	bool purge_failing;	      /* a purge failure was logged and persists */

	/* Owned by the worker while the job runs. */
	struct job job;
	void (*closed)(void *arg); /* called when the job ends after a close; NULL: not closing */
	int all;		   /* descriptor of the parent folder; -1: not open */
	struct status_text batch[STATUS_BATCH];
	size_t n_batch, n_written;
	bool purges;
	struct err error, purge_error; /* of this round, and of the last purge; code 0 = none */
};

struct resources {
	struct uv_loop_s *loop;
	const struct hw *hw;
	const struct inventory *inventory;
	struct holders *holders;
	struct resources_opts opts;
	struct resources_hooks hooks;

	struct pool_config config;
	struct pools pools; /* refers to config */
	/* Pools of the next decision, kept from the first turn to the second; refers to config. */
	struct pools built;
	struct built_from built_from;
	bool has_built;
	struct resource **items; /* one per view of the pools, in the same order */
	size_t n_items;
	struct resource_table table;

	struct kubelet *kubelet;
	struct pending_allocate *allocates;
	struct prestart *prestarts;

	struct pod_status status;
	bool to_sweep; /* IDs or pools have changed since the files were swept */

	struct timer settle; /* gathers changes; also the second turn of a decision */
	struct timer show;   /* gathers changes that only affect the table */
	struct timer hold;   /* end of the next hold time of a device's health */
	struct timer
		allocate_deadline; /* deadline of an Allocate that waits for the kubelet's list */
	bool to_judge;		   /* pools are built, and judged in the next turn */
	bool devices_known, decided, closing;
	unsigned open_handles;
};

/* --- state.c: shared by all files ------------------------------------------------------------- */

/* Schedules the next decision, after a change of the inputs. */
void resources_decide_soon(struct resources *);
/* Schedules an update of the table, without a decision. */
void resources_show_soon(struct resources *);
/* Makes the engine reconcile with the last decision and the current allocations. */
void resources_notify_engine(const struct resources *);
/* Fills in the data for answers to requests about a resource. -ENOENT while the resource offers
 * nothing: it is being withdrawn, or there was no decision yet. */
int resource_input(const struct resource *, struct allocation_input *ret, struct err *);
struct allocation_input resources_input(struct resources *, const struct pool_view *);
/* Finds device nodes that containers were given and that no longer belong to their devices;
 * borrowed from holders and pools. -ENOMEM leaves the empty list. */
int resources_conflicts(struct resources *, struct node_conflicts *ret);
/* True if the engine moves this resource's devices into pods, and a container's start waits for
 * that. */
bool resource_is_attached(const struct resource *);
/* Checks the health of a device, ignoring the reasons in `ignored` (HEALTH_BIT). -ENODEV: it is
 * unhealthy. */
int resource_check_health(const struct resource *, const char *id, unsigned ignored, struct err *);
/* Copies the IDs; dst owns them. On failure, dst has the IDs that were copied so far. */
int copy_ids(struct id_list *dst, const struct id_list *src);
void free_ids(struct id_list *);

/* --- resource.c: one resource and its devices ------------------------------------------------- */

/* Makes the served resources match those of the configuration, in its order. -ENOMEM changes
 * nothing. */
int resource_follow_config(struct resources *, const struct pool_config *);
/* Judges every offer of the pools, and drops the state of IDs that are no longer offered. -ENOMEM:
 * some keep their previous health. */
int resource_judge(struct resources *);
/* Sends all lists to the kubelet; retries resources that could not be served so far. */
int resource_advertise(struct resources *);
void resource_free(struct resource *); /* may be NULL */

/* --- files.c: files for other programs -------------------------------------------------------- */

/* Makes sure that the CDI specification of a resource exists before a container gets a name in it.
 * Writes it now if the last decision could not. */
int files_ensure_cdi(const struct resource *, const struct allocation_input *, struct err *);
/* Writes the device information of the IDs given to a container. */
void files_write_info(struct resources *, const struct allocation_input *, struct id_list);
/* Makes all files match the last decision. */
void files_follow(struct resources *);

/* --- status.c: files in which containers read the status of their devices --------------------- */

void status_open(struct resources *);
/* Makes the folders match the last decision and the allocations. */
void status_follow(struct resources *);
/* Creates new folders for devices that are being allocated, and adds them to the grant; a failure
 * is logged, and that folder is not granted. */
void status_grant(struct resources *, const struct pool *, struct id_list,
		  struct container_grant *);
/* Stops writing. True: a worker is still running, and `closed` is called when it is done. */
bool status_close(struct resources *, void (*closed)(void *arg));
void status_done(struct resources *);

/* --- allocate.c: requests of the kubelet ------------------------------------------------------ */

extern const struct plugin_hooks plugin_calls; /* arg: struct resource */
/* Continues waiting requests after a list of the kubelet that was requested at asked_ms; 0: the
 * kubelet did not answer. */
void allocate_continue(struct resources *, uint64_t asked_ms);
/* Grants the requests that have waited too long for the list; arg: struct resources. */
void allocate_expire(void *arg);
/* Drops the requests for this resource, or for all resources (NULL), without an answer. */
void allocate_drop(struct resources *, const struct resource *);

/* --- prestart.c: the start of a container ----------------------------------------------------- */

/* Answers PreStartContainer; arg: struct resource. */
void prestart_request(struct plugin_answer *, const struct id_list *ids, void *arg);
/* Like allocate_drop(): drops the requests with this answer, or for this resource. */
void prestart_drop(struct resources *, const struct plugin_answer *, const struct resource *);

/* --- table.c: the table for metrics and API --------------------------------------------------- */

/* Rebuilds the table from the current decision; true if it differs from the previous one. -ENOMEM
 * keeps the previous one. */
int resources_make_table(struct resources *);
