/* pod_sandbox.h - the sandbox of the pod that the kubelet means, among those that the runtime
 * knows. Pure.
 *
 * The kubelet's list knows no uid, so several pods may bear the name that it tells: one that ends
 * and the one that was made anew. Allocate comes before a pod's sandbox, and that before its
 * containers, so the order of events tells them apart. All times compared are the loop's, since the
 * wall clock may be set at any moment; what it says of a sandbox (made_ms) is only ever a reason to
 * wait. With reserved_ms and start_ms of the device, seen_ms and made_ms of the sandbox, asked_ms
 * of the lists:
 *
 *   seen_ms < reserved_ms     it was there before: not of the pod that the device was given to
 *   made_ms >= reserved_ms    it was made since
 *   otherwise                 it was seen since, and the clock says that it was made before, or in
 *                             times to come: that decides nothing
 *   seen_ms > held asked_ms   of it the kubelet's list says nothing: neither all that its pod has,
 *                             nor whether what a pod of that name had is its
 *
 * The device is the pod's whose sandbox was made since; of several, of the first one, but nobody's
 * while more than one stands. Where there is none, two things help: that a container waits to be
 * started, whose sandbox is in every list of sandboxes that was asked for since (start_ms <=
 * asked_ms); and, while none waits, that we do not know when it was given away (we were started
 * since). Then it is the pod's that is the only one of that name to have a sandbox that is ready.
 * So what cannot be told yet is waited for: for the container's start, or for the other pod's end.
 *
 * Of that pod it is the youngest that is ready. An entry with a uid (from the kubelet's checkpoint)
 * takes that pod's only. */
#pragma once

#include "pod_devices.h"
#include "sandbox.h"

/* The sandbox of the pod that an entry of the kubelet's list names; NULL: there is none that is
 * ready, or it cannot be told yet which. It need not be known in detail, and may be of the host's
 * network. Borrowed. */
const struct sandbox *pod_sandbox_find(const struct sandbox_list *, const struct pod_device *);
/* For all that is known, one that is ready may be it. */
bool pod_sandbox_may_be(const struct sandbox_list *, const struct pod_device *);
/* The list was asked for before the sandbox was seen. */
bool pod_sandbox_is_younger(const struct sandbox *, const struct pod_list *held);
/* A sandbox that was seen after since_ms is younger than the kubelet's list: the kubelet is to be
 * asked again. */
bool pod_sandbox_must_ask(const struct pod_list *held, const struct sandbox_list *,
			  uint64_t since_ms);
