/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - shared by the files behind resources.h; private to them. */
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
};

/* One resource that is served to the kubelet. */
struct resource {
	struct resources *owner;
	char name[RESOURCE_NAME_SIZE];
	struct kubelet_plugin *plugin; /* NULL: could not be served, retried at the next decision */
	char error[128];	       /* why it could not be served, logged; "" = it is */
	struct tracked *tracked;       /* one per offer of its view, in the same order */
	size_t n_tracked;
	bool has_cdi;	       /* its CDI specification is up to date with the last decision */
	char files_error[128]; /* why not */
	uint64_t allocations, refusals;
};

/* An Allocate that waits for the kubelet's list; a PreStartContainer that waits until its devices
 * are in the pod. */
struct pending_allocate;
struct prestart;

/* Generations of the inputs that pools were built from. */
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
	bool to_purge;			   /* folders were put aside and have to be purged */
	struct pod_status_plan plan;	   /* of this round */
	size_t next;			   /* index into the plan */
	uint64_t round_ms;		   /* when the round began */
	uint64_t rates_from_ms, sample_ms; /* the last two samples, for rates between them */
	bool missing, missing_logged; /* a folder was removed by another program: in this round; and
				       it was logged */
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

	struct timer settle;   /* gathers changes; also the second turn of a decision */
	struct timer show;     /* gathers changes that only affect the table */
	struct timer hold;     /* when the next hold time of a device's health ends */
	struct timer patience; /* when an Allocate has waited long enough for the kubelet's list */
	bool to_judge;	       /* pools are built, and judged in the next turn */
	bool devices_known, decided, closing;
	unsigned open_handles;
};

/* --- state.c: shared by all files ------------------------------------------------------------- */

/* Something changed: decide soon. */
void resources_decide_soon(struct resources *);
/* Only the table has to be updated. */
void resources_show_soon(struct resources *);
/* Makes the engine reconcile with the last decision and the current allocations. */
void resources_notify_engine(const struct resources *);
/* NULL: the resource has no such ID. */
const struct tracked *resource_tracked(const struct resource *, const char *id);
/* The data that requests about a resource are answered from. -ENOENT while it offers nothing at
 * all: it is being withdrawn, or was never decided on. */
int resource_input(const struct resource *, struct allocation_input *ret, struct err *);
struct allocation_input resources_input(struct resources *, const struct pool_view *);
/* Device nodes that containers were given and that no longer belong to their devices; borrowed from
 * holders and pools. -ENOMEM leaves the empty list. */
int resources_conflicts(struct resources *, struct node_conflicts *ret);
/* The engine moves this resource's devices into pods, and a container's start waits for that. */
bool resource_is_attached(const struct resource *);
/* -ENODEV and the reasons, except those in `ignored` (HEALTH_BIT). */
int resource_check_health(const struct resource *, const char *id, unsigned ignored, struct err *);
/* Copies the IDs; dst owns them. On failure it has those that there was memory for. */
int copy_ids(struct id_list *dst, const struct id_list *src);
void free_ids(struct id_list *);

/* --- advertise.c: which devices are advertised to the kubelet --------------------------------- */

/* One turn of a decision; arg: struct resources. */
void advertise_turn(void *arg);
/* Drops the pools built for the next decision, which builds them again. */
void advertise_drop(struct resources *);

/* --- resource.c: one resource and its devices ------------------------------------------------- */

/* Makes the served resources those of the configuration, in its order. -ENOMEM changes nothing. */
int resource_follow_config(struct resources *, const struct pool_config *);
/* Judges every offer of the pools, and drops the state of IDs that are no longer offered. -ENOMEM:
 * some keep their previous health. */
int resource_judge(struct resources *);
/* Sends all lists to the kubelet; retries resources that could not be served so far. */
int resource_advertise(struct resources *);
void resource_free(struct resource *); /* NULL is fine */

/* --- files.c: files for other programs -------------------------------------------------------- */

/* Makes sure that the CDI specification of a resource exists before a container is given a name in
 * it: written by the last decision, or now. */
int files_ensure_cdi(const struct resource *, const struct allocation_input *, struct err *);
/* Writes the device information of the IDs given to a container. */
void files_write_info(struct resources *, const struct allocation_input *, struct id_list);
/* Brings all files in step with the last decision. */
void files_follow(struct resources *);

/* --- status.c: files in which containers read the status of their devices --------------------- */

void status_open(struct resources *);
/* Brings the folders in step with the last decision and the allocations. */
void status_follow(struct resources *);
/* Creates new folders for devices that are being allocated, and adds them to the grant; a failure
 * is logged, and that folder is not granted. */
void status_give(struct resources *, const struct pool *, struct id_list, struct container_grant *);
/* Stops writing. True: a worker is still running, and `closed` is called when it is done. */
bool status_close(struct resources *, void (*closed)(void *arg));
void status_done(struct resources *);

/* --- allocate.c: requests of the kubelet ------------------------------------------------------ */

extern const struct plugin_hooks plugin_calls; /* arg: struct resource */
/* A list of the kubelet that was requested at asked_ms has arrived; 0: the kubelet did not
 * answer. */
void allocate_continue(struct resources *, uint64_t asked_ms);
/* Grants the requests that have waited too long for the list; arg: struct resources. */
void allocate_expire(void *arg);
/* Drops the requests to this resource, or to any (NULL), without an answer. */
void allocate_drop(struct resources *, const struct resource *);

/* --- prestart.c: may a container start? ------------------------------------------------------- */

/* PreStartContainer; arg: struct resource. */
void prestart_asked(struct plugin_answer *, const struct id_list *ids, void *arg);
/* Like allocate_drop(): those with this answer, or to this resource. */
void prestart_drop(struct resources *, const struct plugin_answer *, const struct resource *);

/* --- table.c: the table for metrics and API --------------------------------------------------- */

/* Rebuilds the table from the current decision; true if it differs from the previous one. -ENOMEM
 * keeps the previous one. */
int resources_make_table(struct resources *);
