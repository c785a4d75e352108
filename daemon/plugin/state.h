/* state.h - what the files behind resources.h share. For nobody else. */
#pragma once

#include <uv.h>

#include "allocation.h"
#include "due.h"
#include "engine.h"
#include "granted_nodes.h"
#include "health.h"
#include "job.h"
#include "pod_status.h"
#include "pools.h"
#include "resources.h"

/* One ID of a resource, remembered from one decision to the next. */
struct tracked {
	char id[PLUGIN_ID_SIZE];
	struct health health;
};

/* One resource that is served to the kubelet. */
struct resource {
	struct resources *owner;
	char name[RESOURCE_NAME_SIZE];
	struct kubelet_plugin
		*plugin;	 /* NULL: could not be served, tried again at the next decision */
	bool told;		 /* that it could not be served */
	struct tracked *tracked; /* one per offer of its view, in the same order */
	size_t n_tracked;
	bool has_cdi; /* its specification is as the last decision wants it */
	uint64_t allocations, refusals;
};

/* An Allocate that waits for the kubelet's word on who holds its devices; a PreStartContainer that
 * waits for its devices to be in their pod. */
struct pending_allocate;
struct prestart;

/* Generations. */
struct built_from {
	uint64_t inventory, reservations;
};

/* So many files at a time: texts are made in one turn of the loop. */
#define STATUS_BATCH 16

/* A file to be written; owned. */
struct status_text {
	int folder; /* descriptor */
	char *text;
	size_t len;
};

/* What containers read of their own devices (status.c). */
struct pod_status {
	char *run_dir; /* absolute, as the kubelet is told it; NULL: there is none. Owned */
	bool failing;  /* and that was told */
	bool followed; /* the folders are as the decision at `generation` of who has what wants */
	uint64_t generation;
	bool to_purge;			   /* something was put aside */
	struct pod_status_plan plan;	   /* of this round */
	size_t next;			   /* in the plan */
	uint64_t round_ms;		   /* when it began */
	uint64_t rates_from_ms, sample_ms; /* the last two samples: rates are between them */
	bool missing,
		told_missing; /* a folder that was removed by somebody: in this round, and told */
	bool purge_failing;   /* and that was told */

	/* The worker's while the job runs. */
	struct job job;
	void (*closed)(void *arg); /* called then; NULL: it is not being closed */
	int all;		   /* descriptor of all folders; -1: not open */
	struct status_text batch[STATUS_BATCH];
	size_t n_batch, n_written;
	bool purges;
	struct err error, purge_error; /* of this round, and the last one; code 0 = none */
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
	/* Those of the next decision, from one turn of the loop to the next; refers to config. */
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

	struct due settle;   /* gathers changes; the next turn of a decision */
	struct due show;     /* gathers what only the table tells */
	struct due hold;     /* the next hold time of somebody's health ends */
	struct due patience; /* an Allocate has waited long enough for the kubelet's list */
	bool to_judge;	     /* pools are built, and looked at in the next turn */
	bool devices_known, decided, closing;
	unsigned open_handles;
};

/* --- state.c: what all files ask and say --------------------------------------------------------
 */

/* Something changed: decide soon. */
void resources_decide_soon(struct resources *);
/* Nothing to decide, but the table is to tell it. */
void resources_show_soon(struct resources *);
/* The engine is to look at what has been decided, or given away. */
void resources_tell_engine(const struct resources *);
/* NULL: the resource has no such ID. */
const struct tracked *resource_tracked(const struct resource *, const char *id);
/* What the questions about a resource are answered from. -ENOENT while it offers nothing at all: it
 * is being withdrawn, or was never decided on. */
int resource_input(const struct resource *, struct allocation_input *ret, struct err *);
struct allocation_input resources_input(struct resources *, const struct pool_view *);
/* Which device nodes that containers were given are not their devices' any more; borrowed from
 * holders and pools. -ENOMEM leaves the empty list. */
int resources_conflicts(struct resources *, struct node_conflicts *ret);
/* The engine brings its devices into pods, and a container's start waits for that. */
bool resource_is_attached(const struct resource *);
/* -ENODEV and the reasons, but for those to be ignored (HEALTH_BIT). */
int resource_check_health(const struct resource *, const char *id, unsigned ignored, struct err *);
/* The same IDs, each owned; on failure those that there was memory for. */
int copy_ids(struct id_list *dst, const struct id_list *src);
void free_ids(struct id_list *);

/* --- advertise.c: which devices the kubelet is told of ------------------------------------------
 */

/* A turn of a decision; arg: struct resources. */
void advertise_turn(void *arg);
/* Forgets what is built for the next decision, which builds it again. */
void advertise_drop(struct resources *);

/* --- resource.c: one resource and its devices ---------------------------------------------------
 */

/* Makes the served resources those of the configuration, in its order. -ENOMEM changes nothing. */
int resource_follow_config(struct resources *, const struct pool_config *);
/* Judges every offer of the pools; what is no longer offered is forgotten. -ENOMEM: some are judged
 * as before. */
int resource_judge(struct resources *);
/* Tells the kubelet all lists; a resource that could not be served yet is tried again. */
int resource_tell(struct resources *);
void resource_free(struct resource *); /* NULL is fine */

/* --- files.c: what others read ---------------------------------------------------------------- */

/* The CDI specification of a resource is there, before a container is given a name in it: written
 * by the last decision, or now. */
int files_ensure_cdi(const struct resource *, const struct allocation_input *, struct err *);
/* The device information of what a container is given. */
void files_write_info(struct resources *, const struct allocation_input *, struct id_list);
/* Brings all files in step with what was decided. */
void files_follow(struct resources *);

/* --- status.c: what containers read of their devices ------------------------------------------ */

void status_open(struct resources *);
/* Folders as of what was decided, and of who has what. */
void status_follow(struct resources *);
/* New folders for devices that are being given away, and their part of the grant; what fails is
 * told, and not granted. */
void status_give(struct resources *, const struct pool *, struct id_list, struct container_grant *);
/* Nothing more is written. True: a worker has it still, and closed is called when it is done. */
bool status_close(struct resources *, void (*closed)(void *arg));
void status_done(struct resources *);

/* --- allocate.c: what the kubelet asks ------------------------------------------------------- */

extern const struct plugin_hooks plugin_calls; /* arg: struct resource */
/* The kubelet's list has come that was asked for at asked_ms; 0: its word could not be had. */
void allocate_continue(struct resources *, uint64_t asked_ms);
/* Grants what has waited too long for it; arg: struct resources. */
void allocate_expire(void *arg);
/* Questions to this resource, or to any (NULL), are not answered any more. */
void allocate_drop(struct resources *, const struct resource *);

/* --- prestart.c: may a container start? ---------------------------------------------------------
 */

/* PreStartContainer; arg: struct resource. */
void prestart_asked(struct plugin_answer *, const struct id_list *ids, void *arg);
/* As allocate_drop(): those with this answer, or to this resource. */
void prestart_drop(struct resources *, const struct plugin_answer *, const struct resource *);

/* --- table.c: the picture for others ---------------------------------------------------------- */

/* Builds the table of what is decided now; true when it differs from the last one. -ENOMEM keeps
 * the last one. */
int resources_make_table(struct resources *);
