/* SPDX-License-Identifier: Apache-2.0 */
/* decide.h - decides what to do with each device now, based on the kubelet's list, the runtime's
 * list and the inventory. Pure: a snapshot in, actions out; nothing is changed. */
#pragma once

#include "attachment_set.h"
#include "desired.h"

/* All pointers are borrowed. */
struct attach_snapshot {
	uint64_t now_ms;
	const struct attachments *all;
	const struct host *host;
	uint64_t devices_ms; /* when the scan that `host` is from began, 0 = no scan yet */
	uint64_t done_ms;    /* time of the last step of any attach or return */
	bool dry_run;
	unsigned n_checking; /* running checks, except those that hang */

	/* State of the device plugin and the runtime. desired NULL: not known yet; then only
	 * actions that do not need it are decided. */
	const struct desired_list *desired;
	const struct pools *pools;
	const struct pod_list *held; /* includes reservations */
	const struct sandbox_list *sandboxes;
	uint64_t cri_silent_ms;	     /* since when the runtime's list is unknown, 0 = it is known */
	const char *journal_missing; /* why the journal is not writable, NULL = it is */
	/* Functions with our mark that have a file in the journal: we attached them, even if no
	 * pool selects them now. */
	const char *const *recorded;
	size_t n_recorded;
};

enum attach_act {
	ACT_FOLLOW_POOL,  /* the configuration of its pool has changed */
	ACT_UNDO,	  /* cancel a running attach that is not desired any more */
	ACT_RETURN,	  /* netdev: the marked netdev of a lost device */
	ACT_SET_FREE,	  /* a lost device that is free: nothing is changed on it */
	ACT_ADOPT,	  /* a lost device that its pod is using */
	ACT_ADOPT_ORPHAN, /* the netdev has our mark, and nothing else is known */
	ACT_ATTACH,
	ACT_FAIL, /* desired, but cannot be attached */
	ACT_ANNOUNCE,
	ACT_CHECK, /* check, and repair if requested */
	ACT_DROP,  /* it could not be attached and is not desired any more */
};

struct attach_action {
	enum attach_act act;
	struct attachment *a;		    /* NULL: not created yet */
	const struct desired *desired;	    /* for ADOPT, ATTACH, FAIL */
	const struct pool_network *network; /* for FOLLOW_POOL */
	const struct netdev *netdev;	    /* for ADOPT, TAKE_ORPHAN, RETURN */
	const char *why;		    /* for UNDO, RETURN, SET_FREE, FAIL; may be NULL */
};

/* The actions, in the order of execution. recheck_ms: the next time at which the decision may
 * change although no input has changed. */
struct attach_actions {
	struct attach_action *items;
	size_t n;
	uint64_t recheck_ms;
	/* Attachments that contradict the runtime's list for longer than a pod needs to end: the
	 * first one (NULL = none) and their number. lacks_all: the runtime's list has none of the
	 * sandboxes of devices in pods. */
	const struct attachment *contradicting;
	size_t n_contradicting;
	bool lacks_all;
};

/* Longer than the normal end of a pod, whose processes exit before the runtime's list changes. */
#define CONTRADICTION_MS 2000

/* Maximum number of concurrent checks: one worker remains for attaches and returns. A periodic
 * check runs only if no other check does. */
#define ATTACH_CHECKS_MAX 3

/* Decides all actions. Per attachment, at most one of them begins an operation. -ENOMEM leaves *ret
 * empty. */
int attach_decide(const struct attach_snapshot *, struct attach_actions *ret);
void attach_actions_done(struct attach_actions *);
