/* decide.h - what is to be done with each device now, from what is known: the kubelet's list, the
 * runtime's, the inventory. Pure: a snapshot in, actions out; nothing is changed. */
#pragma once

#include "attachment_set.h"
#include "desired.h"

/* All of it is borrowed. */
struct attach_snapshot {
	uint64_t now_ms;
	const struct attachments *all;
	const struct host *host;
	uint64_t devices_ms; /* when the look began that host is from, 0 = there was none */
	uint64_t done_ms;    /* the last step of any attach or return */
	bool dry_run;
	bool checking; /* one of them is compared with its plan already */

	/* What the device plugin and the runtime know; desired NULL: nothing yet, and only what
	 * needs neither is decided. */
	const struct desired_list *desired;
	const struct pools *pools;
	const struct pod_list *held; /* with reservations */
	const struct sandbox_list *sandboxes;
	uint64_t cri_silent_ms;	     /* since when the runtime's list is not known, 0 = it is */
	const char *journal_missing; /* why nothing can be written down, NULL = it can */
	/* Functions that bear our mark, are in no pool, and have been attached: a file is there. */
	const char *const *recorded;
	size_t n_recorded;
};

enum attach_act {
	ACT_FOLLOW_POOL, /* what its pool says has changed */
	ACT_UNDO,	 /* an attach under way: it is not wanted any more */
	ACT_RETURN,	 /* netdev: of a lost one, by its mark */
	ACT_SET_FREE,	 /* a lost one that is nobody's, without touching it */
	ACT_ADOPT,	 /* a lost one that its pod runs with */
	ACT_TAKE_ORPHAN, /* nothing is known of it, but that it bears our mark */
	ACT_ATTACH,
	ACT_FAIL, /* to be attached, and cannot be */
	ACT_ANNOUNCE,
	ACT_CHECK, /* and, if it is to be, repair */
	ACT_DROP,  /* it could not be attached, and nobody asks for it any more */
};

struct attach_action {
	enum attach_act act;
	struct attachment *a;		    /* NULL: there is none yet */
	const struct desired *desired;	    /* of ADOPT, ATTACH, FAIL */
	const struct pool_network *network; /* of FOLLOW_POOL */
	const struct netdev *netdev;	    /* of ADOPT, TAKE_ORPHAN, RETURN */
	const char *why;		    /* of UNDO, RETURN, SET_FREE, FAIL; NULL is fine */
};

/* In the order in which they are to be done; due_ms: when time alone may change the decision. */
struct attach_actions {
	struct attach_action *items;
	size_t n;
	uint64_t due_ms;
	/* The runtime's list is contradicted: by how many attachments for so long that it is no pod
	 * that is just ending, and the first of them (NULL = by none); it names none of what is in
	 * pods. */
	const struct attachment *contradicting;
	size_t n_contradicting;
	bool lacks_all;
};

/* An ordinary end is over by then: its processes exit before the runtime's list changes. */
#define CONTRADICTION_MS 2000

/* At most one action that begins something for each attachment, and one check in all. -ENOMEM
 * leaves *ret empty. */
int attach_decide(const struct attach_snapshot *, struct attach_actions *ret);
void attach_actions_done(struct attach_actions *);
