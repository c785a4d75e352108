/* SPDX-License-Identifier: Apache-2.0 */
/* reconcile.h - decides whether one attachment has to end. Pure.
 *
 * The runtime's list is sufficient evidence that a sandbox exists. It is no sufficient evidence
 * that a sandbox has ended, because the list may be incomplete or from another runtime: that must
 * be confirmed by the kernel or by the kubelet's list. The kubelet's list shows which pod gets a
 * device next. A removed namespace is sufficient evidence that its sandbox has ended, whatever the
 * lists contain. An unknown list is evidence of nothing. */
#pragma once

#include "desired.h"
#include "netns.h"

/* A device is returned when it has been missing from the kubelet's list for this time and the end
 * of its pod's sandbox is not confirmed. */
#define RECONCILE_UNHELD_MS 10000
/* The period while a process runs in the sandbox's namespace. It may belong to the pod, which is
 * then terminating: a grace period longer than this is rare, and only matters if the runtime's list
 * is wrong as well. Or it does not belong to the pod (a tcpdump), and must not prevent the return
 * forever. */
#define RECONCILE_USED_MS   300000
/* The period for a sandbox that the runtime has never reported as ready. During a CNI ADD the
 * sandbox is being created: the runtime does not list it yet, and no process runs in it. This is
 * longer than any kubelet waits for a sandbox (4 min: twice the default of
 * --runtime-request-timeout). */
#define RECONCILE_MADE_MS   300000

/* The facts about one attachment. */
struct attach_fact {
	const struct attach_record *record;
	bool netns_gone; /* no process or mount keeps it, and the runtime does not report its
			    sandbox as ready */
	bool in_host; /* its netdev is in the host's namespace, according to a scan that began after
			 the attach was complete */
	bool netns_there; /* its namespace still exists */
	bool interrupted; /* rocelet was stopped during the operation (state attaching, returning or
			     bad), and none is running now */
	uint64_t unheld_ms; /* for how long the kubelet's list has lacked the device for this pod
			       while the runtime did not answer; 0 = it does not lack it */
	uint64_t missed_ms; /* for how long the runtime's list has not had the sandbox as ready; 0 =
			       it has, or is unknown */
	enum netns_use use; /* use of its namespace, determined after the sandbox was missed */
	bool was_ready;	    /* the runtime has reported the sandbox as ready since our start */
};

struct reconcile_input {
	const struct pod_list *held; /* includes reservations; POD_SOURCE_NONE = unknown */
	const struct sandbox_list *sandboxes;
};

/* Returns the reason why the attachment has to end, for the event ("its sandbox was removed");
 * NULL: it stays.
 *
 * Any door: it ends if its operation was interrupted, if its namespace was removed, or if its
 * netdev was in the pod and is in the host again.
 *
 * DOOR_NATIVE, attaching or in its pod: it also ends if the pod has a newer sandbox, and
 *
 *   runtime's list    namespace     kubelet's list   ends
 *   ready             any           any              no
 *   not ready         empty         any              yes: its sandbox has ended
 *   not in the list   empty         other, none      yes: its sandbox was removed
 *   not in the list   empty         this pod         no
 *   either            in use        this pod         no
 *   either            in use        other, none      after RECONCILE_USED_MS
 *   either            unknown       this pod         no
 *   either            unknown       other, none      after RECONCILE_UNHELD_MS
 *   unknown           any           other, none      after RECONCILE_UNHELD_MS
 *
 * The last process of a sandbox exits before the runtime reports the sandbox as not ready, so the
 * normal end of a pod is in the second row. While the sandbox is ready the device stays, whatever
 * the kubelet's list contains: the kubelet stops a sandbox when all containers have ended
 * (killPodWithSyncResult() in pkg/kubelet/kuberuntime), but forgets the pod and reallocates its
 * devices before that, and it may have lost its checkpoint.
 *
 * DOOR_CNI, for a pod: it ends if its namespace is empty and its sandbox has ended (it was ready
 * before, or is listed as not ready). Otherwise, if the sandbox is not ready for RECONCILE_MADE_MS,
 * it ends if the namespace is empty, or if the kubelet's list has the device for another pod or not
 * at all. A container outside of pods is in no runtime's list, so its attachment stays as long as
 * its namespace exists.
 *
 * For a device that stays in the host, the use of the namespace is unknown, and the runtime's list
 * is sufficient evidence that its sandbox is not ready. Devices that are free, returning or bad are
 * handled by decide.h. */
const char *reconcile_attachment(const struct attach_fact *, const struct reconcile_input *);
/* The time that the device has to be missing from both the kubelet's and the runtime's list. */
static inline uint64_t reconcile_patience_ms(enum netns_use use)
{
	return use == NETNS_IN_USE ? RECONCILE_USED_MS : RECONCILE_UNHELD_MS;
}

/* The runtime's list contradicts other evidence: it does not have the sandbox as ready, but a
 * process runs in the sandbox's namespace or (for a sandbox that is not in the list at all) the
 * kubelet's list names the pod. */
bool reconcile_is_contradicted(const struct attach_fact *, const struct reconcile_input *);
/* Can a desired device be attached now? current: the record of its attachment, or NULL. */
bool reconcile_may_attach(const struct desired *, const struct attach_record *current);

/* Does a netdev of the host's hardware, in any namespace, have our mark (struct netdev.origin)
 * although no attachment explains it? Such a netdev is returned. */
bool reconcile_is_orphan(const struct netdev *, const struct attach_record *current);
