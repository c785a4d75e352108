/* reconcile.h - is one attachment to end now? Pure: facts in, a reason out.
 *
 * The runtime's list says that a sandbox lives; that it has ended it says only together with the
 * kernel or the kubelet, since the list may be of another runtime, or cut short. The kubelet's list
 * says which pod is to have a device next. A namespace that is gone is gone whichever list says
 * otherwise. Nothing is concluded from a list that is not known. */
#pragma once

#include "desired.h"
#include "netns.h"

/* How long a device may be missing from the kubelet's list while its pod's sandbox is not known to
 * be ended, before it is taken back. */
#define RECONCILE_DOUBT_MS 10000
/* The same where a process is in the sandbox's namespace. If it belongs to the pod, the pod may
 * still be terminating (longer grace periods than this are rare, and the runtime's list has to be
 * wrong as well); if it does not (a tcpdump), the device must not be leaked for as long as it runs.
 */
#define RECONCILE_USED_MS  300000

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
	uint64_t missed_ms; /* for how long the runtime's list has not called its sandbox ready;
			       0 = it does, or is not known */
	enum netns_use use; /* of its namespace, asked since then */
};

struct reconcile_input {
	const struct pod_list *held; /* with reservations; POD_SOURCE_NONE = not known */
	const struct sandbox_list *sandboxes;
};

/* Returned is, of any door: what was interrupted, what is in a namespace that is gone, and what was
 * in its pod and is in the host again. Of DOOR_NATIVE, attaching or in its pod, also: what belongs
 * into a newer sandbox of the same pod, and
 *
 *   runtime's list    namespace     kubelet's list   returned
 *   ready             any           any              no
 *   not ready         empty         any              yes: its sandbox has ended
 *   not in the list   empty         other, none      yes: its sandbox is gone
 *   not in the list   empty         this pod         no
 *   either            in use        this pod         no
 *   either            in use        other, none      after RECONCILE_USED_MS
 *   either            not known     this pod         no
 *   either            not known     other, none      after RECONCILE_DOUBT_MS
 *   not known         any           other, none      after RECONCILE_DOUBT_MS
 *
 * Of a device that stays in the host the namespace is not known; the runtime alone is believed that
 * its sandbox is not ready.
 *
 * A sandbox's last process exits before the runtime calls the sandbox not ready, so a pod's
 * ordinary end is in the second row. While its sandbox is ready a device stays, whatever the
 * kubelet's list says of it: the kubelet stops a sandbox when all containers have ended
 * (killPodWithSyncResult() in pkg/kubelet/kuberuntime), but forgets a pod and gives its devices
 * away before, and may have lost its checkpoint. What is free, returning or bad is decided
 * elsewhere (decide.h).
 * Returns why, for the event ("its sandbox is gone"); NULL: it stays. */
const char *reconcile_attachment(const struct attach_fact *, const struct reconcile_input *);
/* For how long the kubelet's list and the runtime's both have to lack the pod. */
static inline uint64_t reconcile_patience_ms(enum netns_use use)
{
	return use == NETNS_IN_USE ? RECONCILE_USED_MS : RECONCILE_DOUBT_MS;
}

/* The runtime's list is contradicted: it does not call the sandbox ready, and yet a process runs in
 * the namespace, or (a sandbox that is not in the list at all) the kubelet names the pod. */
bool reconcile_is_contradicted(const struct attach_fact *, const struct reconcile_input *);
/* A wanted device is to be attached now: nobody has it (current: its record, or NULL), and it can
 * be. */
bool reconcile_may_attach(const struct desired *, const struct attach_record *current);

/* A netdev of the host's hardware, in whatever namespace, that bears our mark (struct
 * netdev.origin) without an attachment that explains it: to be returned. */
bool reconcile_is_orphan(const struct netdev *, const struct attach_record *current);
