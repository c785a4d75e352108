/* SPDX-License-Identifier: Apache-2.0 */
/* pod_sandbox.h - finds the sandbox of the pod that a kubelet entry refers to. Pure.
 *
 * The kubelet's list has no uids, so its pod name may refer to several pods: one that is ending,
 * and its successor. The order of events distinguishes them: Allocate precedes the pod's sandbox,
 * which precedes its containers. All compared times are the loop's, because the wall clock may be
 * set at any time; a sandbox's creation time (made_ms), which is based on the wall clock, is only
 * used as a reason to wait. The inputs are reserved_ms and start_ms of the device, seen_ms and
 * made_ms of the sandbox, and asked_ms of the lists:
 *
 * - seen_ms < reserved_ms: the sandbox existed before the Allocate, so it is another pod's.
 * - seen_ms >= reserved_ms and made_ms >= reserved_ms: it was created after the Allocate.
 * - seen_ms >= reserved_ms, but made_ms is earlier or 0: inconclusive.
 * - seen_ms > asked_ms of the kubelet's list: the list is older than the sandbox. It may lack the
 *   devices of the sandbox's pod, and may refer to another pod of that name.
 *
 * The device belongs to the pod whose sandbox was created after the Allocate. If there are several,
 * it belongs to the first, but to none while more than one of them is ready. If there is none, the
 * only pod of that name with a ready sandbox is chosen, but only in two cases: a container waits to
 * be started, so its sandbox is in every list of sandboxes requested after that (start_ms <=
 * asked_ms); or no container waits and the time of the Allocate is unknown, because we started
 * after it. That pod is not chosen while another pod of that name has a younger sandbox, ready or
 * not: then it is a predecessor that was deleted by force, and its containers still run. An
 * inconclusive case is resolved later, when the container starts or the other pod ends.
 *
 * The result is the youngest ready sandbox of the chosen pod. An entry with a uid (from the
 * kubelet's checkpoint) matches only that pod. */
#pragma once

#include "pod_devices.h"
#include "sandbox.h"

/* Returns the sandbox of the pod that an entry of the kubelet's list refers to; NULL: none is
 * ready, or the case is inconclusive. Its details may be unknown, and it may use the host's
 * network. Borrowed. */
const struct sandbox *pod_sandbox_find(const struct sandbox_list *, const struct pod_device *);
/* True if a ready sandbox could be the pod's, as far as is known. */
bool pod_sandbox_may_be(const struct sandbox_list *, const struct pod_device *);
/* True if the list was requested before the sandbox was first reported. */
bool pod_sandbox_is_younger(const struct sandbox *, const struct pod_list *held);
/* True if the kubelet must be queried again: a ready sandbox was first reported after since_ms, and
 * is younger than the kubelet's list. */
bool pod_sandbox_needs_details(const struct pod_list *held, const struct sandbox_list *,
			       uint64_t since_ms);
