/* desired.h - which device belongs into which pod: what containers hold (the kubelet's list) x the
 * pods' sandboxes (pod_sandbox.h) x what the pool says. Pure.
 *
 * A device that the list names for two pods belongs into the younger sandbox: the one that was seen
 * later, and only of two that one answer has shown first (at our start) the one that the runtime
 * says it made later.
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
struct desired {
	char resource[RESOURCE_NAME_SIZE];
	char id[PLUGIN_ID_SIZE];
	char function[DEV_ID_SIZE];	    /* macvlan, ipvlan: the parent's */
	const struct pool_network *network; /* the pools' */
	struct attach_owner owner;
	struct net_plan plan;
	struct err err; /* code != 0: it cannot be attached, and why: names pod, key and value */
};

struct desired_list {
	struct desired *items;
	size_t n;
};

/* Not in the list: devices whose pool has no network, whose pod has no sandbox that is ready and
 * known in detail (yet), or has a sandbox that is younger than the kubelet's list; and of pods with
 * the host's network what is no function, or is to have a soft-RoCE device. Their functions stay in
 * the host (net_plan.in_host).
 *
 * err.code: -EINVAL, what the pod or the pool asks for cannot be, or not in such a sandbox;
 * -ENODEV, the device or the HCA's netdev is gone; -ENOENT, the runtime tells no namespace; -EBUSY,
 * an address that another pod asks for on the same VLAN (the one with the younger sandbox is
 * wrong), or that one of `others` (records in pods) has: may pass when that pod ends. A mistake in
 * the annotation is every device's of its pod. Sorted by (resource, id). -ENOMEM leaves *ret empty.
 */
int desired_build(struct desired_list *ret, const struct pools *, const struct host *,
		  const struct pod_list *held, const struct sandbox_list *,
		  const struct attach_record *const *others, size_t n_others);
void desired_list_done(struct desired_list *);
const struct desired *desired_find(const struct desired_list *, const char *resource,
				   const char *id);
