/* SPDX-License-Identifier: Apache-2.0 */
/* desired.h - decides which device belongs into which pod, from the allocations (the kubelet's
 * list), the pods' sandboxes (pod_sandbox.h) and the pools' configuration. Pure.
 *
 * A device that the list names for two pods belongs into the younger sandbox: the one that was
 * first listed later. If one answer listed both first (at our start), it is the one with the later
 * creation time.
 *
 * Order of a pod's devices: by the first mention of the resource in the annotation, then by its
 * name; within a resource in the natural order of IDs. A device of two containers (an init
 * container's device is reused) counts once. */
#pragma once

#include "attachment.h"
#include "networks.h"
#include "pod_devices.h"
#include "pools.h"
#include "sandbox.h"

/* A device that belongs into a pod. */
struct desired {
	char resource[RESOURCE_NAME_SIZE];
	char id[PLUGIN_ID_SIZE];
	char function[DEV_ID_SIZE];	    /* macvlan, ipvlan: the parent */
	const struct pool_network *network; /* borrowed from the pools */
	struct attach_owner owner;
	struct net_plan plan;
	struct err err; /* code != 0: cannot be attached; msg names pod, key and value */
};

struct desired_list {
	struct desired *items;
	size_t n;
};

/* Builds the list. It leaves out a device if its pool has no network, if its pod has no ready
 * sandbox with known details, or if the pod's sandbox is younger than the kubelet's list. For pods
 * with the host's network, the list has only functions without soft-RoCE, which stay in the host
 * (net_plan.in_host).
 *
 * err.code: -EINVAL, the settings of the pod or the pool are impossible, in general or in this
 * sandbox; -ENODEV, the device or the HCA's netdev was removed; -ENOENT, the runtime reports no
 * namespace; -EBUSY, the address is also requested by another pod on the same VLAN (the pod with
 * the younger sandbox gets the error), or is in use by one of `others` (records of devices in pods)
 * until that pod ends. A mistake in the annotation is an error of every device of the pod. Sorted
 * by (resource, id). -ENOMEM leaves *ret empty. */
int desired_build(struct desired_list *ret, const struct pools *, const struct host *,
		  const struct pod_list *held, const struct sandbox_list *,
		  const struct attach_record *const *others, size_t n_others);
void desired_list_done(struct desired_list *);
const struct desired *desired_find(const struct desired_list *, const char *resource,
				   const char *id);
