/* reconcile.h - is one attachment to end now? Pure: facts in, a reason out.
 *
 * The runtime's list is the truth about a sandbox's life while the runtime answers, the kubelet's
 * about who is to have a device next; a namespace that is gone is gone whoever says otherwise.
 * Nothing is concluded from a list that is not known. */
#pragma once

#include "desired.h"

/* How long a device may be missing from the kubelet's list while its pod's sandbox is not known to
 * be ended, before it is taken back. */
#define RECONCILE_DOUBT_MS 10000

/* One attachment, as the engine has it. */
struct attach_fact {
	const struct attach_record *record;
	bool netns_gone;    /* nothing keeps it, and no runtime calls its sandbox ready */
	bool in_host;	    /* its netdev is in the host's namespace, by a look that began after the
			       attachment was done: an older one would take it from its pod */
	bool netns_there;   /* its namespace is where it was */
	bool interrupted;   /* by our own death: the record says attaching, returning or bad, and
			       nobody works on it */
	uint64_t unheld_ms; /* for how long the kubelet's list has not named it for this pod while
			       the runtime did not answer; 0 = it does */
};

struct reconcile_input {
	const struct pod_list *held; /* with reservations; POD_SOURCE_NONE = not known */
	const struct sandbox_list *sandboxes;
};

/* Returned is, of any door: what was interrupted, what is in a namespace that is gone, and what was
 * in its pod and is in the host again. Of DOOR_NATIVE, attaching or in its pod, also: whose sandbox
 * has ended or is gone; what belongs into a newer sandbox of the same pod. While its sandbox is
 * ready it stays, whatever the kubelet's list says of it: the kubelet stops a sandbox when all
 * containers have ended (killPodWithSyncResult() in pkg/kubelet/kuberuntime), but forgets a pod and
 * gives its devices away before, and may have lost its checkpoint. Only where the runtime does not
 * answer is the list believed: what it has named for other pods only, or for none, for
 * RECONCILE_DOUBT_MS. What is free, returning or bad is decided elsewhere (decide.h).
 * Returns why, for the event ("its sandbox is gone"); NULL: it stays. */
const char *reconcile_attachment(const struct attach_fact *, const struct reconcile_input *);
/* A wanted device is to be attached now: nobody has it (current: its record, or NULL), and it can
 * be. */
bool reconcile_may_attach(const struct desired *, const struct attach_record *current);

/* A netdev of the host's hardware, in whatever namespace, that bears our mark (struct
 * netdev.origin) without an attachment that explains it: to be returned. */
bool reconcile_is_orphan(const struct netdev *, const struct attach_record *current);
