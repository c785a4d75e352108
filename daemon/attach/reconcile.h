/* SPDX-License-Identifier: Apache-2.0 */
/* reconcile.h - decides whether one attachment has to end. Pure.
 *
 * The runtime's list proves that a sandbox exists. It does not prove that a sandbox has ended,
 * because the list may be incomplete or from another runtime. The kernel or the kubelet's list must
 * confirm the end. The kubelet's list shows which pod gets a device next. A removed namespace
 * proves that its sandbox has ended, whatever the lists contain. An unknown list proves nothing. */
#pragma once

#include "desired.h"
#include "netns.h"

/* A device is returned after it was missing from the kubelet's list for this time, even if the end
 * of its pod's sandbox is not confirmed. */
#define RECONCILE_UNHELD_MS 10000
/* The same period if a process runs in the sandbox's namespace. The process may belong to the pod,
 * which is then terminating. A grace period longer than this is rare, and only matters if the
 * runtime's list is wrong, too. Other processes (a tcpdump) must not prevent the return forever. */
#define RECONCILE_USED_MS   300000
/* The same period for a sandbox that the runtime has never reported as ready. During a CNI ADD the
 * sandbox is being created: the runtime does not list it yet, and no process runs in it. The period
 * is longer than the kubelet waits for a sandbox (4 min: twice the default of
 * --runtime-request-timeout). */
#define RECONCILE_MADE_MS   300000

/* The facts about one attachment. */
struct attach_fact {
	const struct attach_record *record;
	bool netns_ended; /* the namespace was removed, and the runtime does not report its sandbox
			   * as ready */
	bool in_host; /* its netdev is in the host's namespace, according to a scan that began after
			 the attach was complete */
	bool netns_there; /* its namespace still exists */
	bool interrupted; /* rocelet was stopped during the operation (state attaching, returning or
			     bad), and none is running now */
	uint64_t unheld_ms; /* for how long the device was missing from this pod in the kubelet's
			     * list, while the runtime did not answer; 0 = it is not missing */
	uint64_t missed_ms; /* for how long the sandbox was not ready in the runtime's list; 0 = it
			     * is ready, or the list is unknown */
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
 * The last process of a sandbox exits before the runtime reports the sandbox as not ready, so a pod
 * that ends normally matches the second row. While the sandbox is ready the device stays, whatever
 * the kubelet's list contains: the kubelet stops a sandbox when all containers have ended
 * (killPodWithSyncResult() in pkg/kubelet/kuberuntime). But it removes the pod from its list and
 * reallocates the devices before that, and it may have lost its checkpoint.
 *
 * DOOR_CNI, for a pod: it ends if its namespace is empty and its sandbox has ended (it was ready
 * before, or is listed as not ready). Otherwise, if the sandbox is not ready for RECONCILE_MADE_MS,
 * it ends if the namespace is empty, or if the kubelet's list has the device for another pod or not
 * at all. No runtime lists a container outside of pods, so its attachment stays as long as its
 * namespace exists.
 *
 * For a device that stays in the host, the use of the namespace is unknown, and the runtime's list
 * is sufficient evidence that its sandbox is not ready. Devices that are free, returning or bad are
 * handled by decide.h. */
const char *reconcile_attachment(const struct attach_fact *, const struct reconcile_input *);
/* The time that the device has to be missing from both the kubelet's and the runtime's list. */
static inline uint64_t reconcile_grace_ms(enum netns_use use)
{
	return use == NETNS_IN_USE ? RECONCILE_USED_MS : RECONCILE_UNHELD_MS;
}

/* True if the runtime's list contradicts other evidence: it does not list the sandbox as ready, but
 * a process runs in the sandbox's namespace or (for a sandbox that is not in the list at all) the
 * kubelet's list names the pod. */
bool reconcile_is_contradicted(const struct attach_fact *, const struct reconcile_input *);
/* Can a desired device be attached now? current: the record of its attachment, or NULL. */
bool reconcile_may_attach(const struct desired *, const struct attach_record *current);

/* Does a netdev of the host's hardware, in any namespace, have our mark (struct netdev.origin)
 * although no attachment explains it? Such a netdev is returned. */
bool reconcile_is_orphan(const struct netdev *, const struct attach_record *current);
