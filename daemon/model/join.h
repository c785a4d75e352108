/* join.h - which device belongs into which pod: what containers hold (the kubelet's list) x the
 * pods' sandboxes (the runtime's) x what the pool says. Pure.
 *
 * The kubelet's list knows no uid, so several pods may bear the name that it tells: one that ends
 * and the one that was made anew. Allocate comes before the sandbox: where both times are known, a
 * sandbox that is older than the reservation is not of the pod that the device was given to, and
 * of the others the pod whose sandbox was made first has it. Otherwise it is the pod of the
 * youngest sandbox that is ready. Of a sandbox that was made after the list was asked for the list
 * says nothing: neither all that its pod has, nor whether what a pod of that name had is its. Of
 * that pod it is the youngest that is ready. An entry with a uid (from the kubelet's checkpoint)
 * takes that pod's only. A device that the list names for two pods belongs into the younger
 * sandbox.
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
 * ready. It need not be known in detail, and may be of the host's network. Borrowed. */
const struct sandbox *join_sandbox(const struct sandbox_list *, const struct pod_device *);
/* The sandbox was made before the device was given away: it is not of the pod that got it. */
bool join_is_older(const struct sandbox *, const struct pod_device *);
/* The list was asked for before the sandbox was made. Of a sandbox from the far future, made before
 * the clock was set back, that cannot be said. */
bool join_is_younger(const struct sandbox *, const struct pod_list *held);
/* A sandbox is younger than the kubelet's list: the kubelet is to be asked again. */
bool join_must_ask(const struct pod_list *held, const struct sandbox_list *);
