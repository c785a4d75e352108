/* reconcile.h - what is to be done with each attachment now. Pure: facts in, one decision each.
 *
 * The runtime's list is the truth about a sandbox's life while the runtime answers, the kubelet's
 * about who owns a device; a namespace that is gone is gone whoever says otherwise. Nothing is
 * concluded from a list that is not known. */
#pragma once

#include "join.h"

/* How long a device may be missing from the kubelet's list while its pod's sandbox is not known to
 * be ended, before it is taken back. */
#define RECONCILE_DOUBT_MS 10000

/* One attachment, as the engine has it. */
struct attach_fact {
	const struct attach_record *record;
	bool netns_gone;  /* the owner's namespace is not there any more */
	bool in_host;	  /* its netdev is in the host's namespace (inventory) */
	bool interrupted; /* by our own death: the record says attaching or returning, nobody works
			     on it */
	uint64_t unheld_ms; /* for how long the kubelet's list has not named it; 0 = it does */
};

struct reconcile_input {
	const struct wanted_list *wanted;
	const struct pod_list *held; /* with reservations; POD_SOURCE_NONE = not known */
	const struct sandbox_list *sandboxes;
};

enum attach_action {
	ACT_KEEP,
	ACT_RETURN, /* and attach anew afterwards, if it is wanted */
};

/* why: for the event, "sandbox is gone", never NULL unless ACT_KEEP. DOOR_ADMIN and DOOR_CNI are
 * returned only when their namespace is gone or they were interrupted. */
struct attach_decision {
	enum attach_action action;
	const char *why;
};
struct attach_decision reconcile_attachment(const struct attach_fact *,
					    const struct reconcile_input *);
/* A wanted device is to be attached now: nobody has it, and it can be. */
bool reconcile_may_attach(const struct wanted *, const struct attach_record *current);

/* A function in the host's hardware that bears our mark (struct netdev.origin) without an
 * attachment that explains it: to be returned. */
bool reconcile_is_orphan(const struct netdev *, const struct attach_record *current);
