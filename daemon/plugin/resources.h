/* resources.h - the device plugin's head: configuration, inventory and what containers hold -> what
 * the kubelet is told, and what it is answered.
 *
 * Everything is decided anew from those three whenever one of them changes (pools_build(),
 * health_judge()); changes of one burst are gathered for a few milliseconds. Nothing is told to the
 * kubelet before the devices have been looked at and it has been asked who holds which. */
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
	struct kubelet_estate *inherited;  /* from a predecessor; taken over. NULL: nothing */
	const char *devinfo_dir, *cdi_dir; /* borrowed */
	const char *run_dir;		   /* what containers read is below it; NULL: nothing */
	bool dry_run;			   /* decide and show, but tell the kubelet nothing */
	struct holders *holders;
	struct attach_engine *engine; /* NULL: nothing is attached here */
};

struct resources_hooks {
	/* The table has changed. */
	void (*changed)(void *arg);
	/* Something happened to a pod's device. */
	void (*event)(const struct event *, void *arg);
	/* The kubelet swept device-plugins/: other sockets of ours there are gone, too. */
	void (*sockets_swept)(void *arg);
	/* What a container is to read of its device now, heap; NULL: nothing new. May be NULL. */
	char *(*status)(const char *function, size_t *ret_len, void *arg);
	void *arg;
};

/* What containers read is written after samples, not more often than that. */
#define RESOURCES_STATUS_MS 1000

/* hw, inventory, holders and engine must outlive it. Starts with the empty configuration. */
int resources_open(struct resources **ret, struct uv_loop_s *, const struct hw *,
		   const struct inventory *, const struct resources_opts *,
		   const struct resources_hooks *, struct err *);
/* Takes the configuration over; what containers hold stays theirs. -ENOMEM: the old one stays. */
int resources_configure(struct resources *, struct pool_config *);
/* The one in use; borrowed until the next. */
const struct pool_config *resources_config(const struct resources *);
/* To be called once the inventory knows the devices, and after each of its changes. */
void resources_look(struct resources *);
/* The attachments have changed: their devices' health may have. */
void resources_attachments_changed(struct resources *);
/* There is a new sample, taken at that loop time, which the hook `status` tells of: what containers
 * read is written soon. */
void resources_sampled(struct resources *, uint64_t sample_ms);
/* Any pool may tell its pods how their devices do (podStatus). */
bool resources_tells_pods(const struct resources *);
/* As struct holders_hooks tells it. */
void resources_held(struct resources *, bool changed, uint64_t answered_ms);
/* As of the last decision; borrowed until the next. */
const struct resource_table *resources_table(const struct resources *);
/* NULL is fine. Gone when the loop has run out of handles. */
void resources_close(struct resources *);
/* The same for a successor: see kubelet_hand_over(). */
void resources_hand_over(struct resources *, struct kubelet_estate *ret);
