/* join.h - which device belongs into which pod: what containers hold (the kubelet's list) x the
 * pods' sandboxes (the runtime's) x what the pool says. Pure.
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
 * takes that pod's only. A device that the list names for two pods belongs into the younger
 * sandbox: the one that was seen later, and only of two that one answer has shown first (at our
 * start) the one that the runtime says it made later.
 *
 * Order of a pod's devices: by resource as the annotation first names it, then by name; within a
 * resource in the natural order of IDs; a device that two containers hold (an init container's,
 * reused) counts once. */
#pragma once

#include "attachment.h"
#include "networks.h"
#include "pod_devices.h"
#include "pools.h"
#include "sandbox.h"

/* One device that belongs into a pod. */
struct wanted {
	char resource[RESOURCE_NAME_SIZE];
	char id[PLUGIN_ID_SIZE];
	char function[DEV_ID_SIZE];	    /* macvlan, ipvlan: the parent's */
	const struct pool_network *network; /* the pools' */
	struct attach_owner owner;
	struct net_plan plan;
	struct err err; /* code != 0: it cannot be attached, and why: names pod, key and value */
};

struct wanted_list {
	struct wanted *items;
	size_t n;
};

/* Not in the list: devices whose pool has no network, whose pod has no sandbox that is ready and
 * known in detail (yet), has the host's network, or has a sandbox that is younger than the
 * kubelet's list.
 *
 * err.code: -EINVAL, what the pod or the pool asks for cannot be; -ENODEV, the device or the HCA's
 * netdev is gone; -ENOENT, the runtime tells no namespace; -EBUSY, an address that another pod asks
 * for on the same VLAN (the one with the younger sandbox is wrong), or that one of `others`
 * (records in pods) has: may pass when that pod ends. A mistake in the annotation is every device's
 * of its pod. Sorted by (resource, id). -ENOMEM leaves *ret empty. */
int join_build(struct wanted_list *ret, const struct pools *, const struct host *,
	       const struct pod_list *held, const struct sandbox_list *,
	       const struct attach_record *const *others, size_t n_others);
void wanted_list_done(struct wanted_list *);
const struct wanted *wanted_find(const struct wanted_list *, const char *resource, const char *id);

/* The sandbox of the pod that an entry of the kubelet's list names; NULL: there is none that is
 * ready, or it cannot be told yet which. It need not be known in detail, and may be of the host's
 * network. Borrowed. */
const struct sandbox *join_sandbox(const struct sandbox_list *, const struct pod_device *);
/* For all that is known, one that is ready may be it. */
bool join_may_be_of(const struct sandbox_list *, const struct pod_device *);
/* The list was asked for before the sandbox was seen. */
bool join_is_younger(const struct sandbox *, const struct pod_list *held);
/* A sandbox that was seen after since_ms is younger than the kubelet's list: the kubelet is to be
 * asked again. */
bool join_must_ask(const struct pod_list *held, const struct sandbox_list *, uint64_t since_ms);
