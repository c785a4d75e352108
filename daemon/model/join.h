/* join.h - which device belongs into which pod: what containers hold (the kubelet's list) x the
 * pods' sandboxes (the runtime's) x what the pool says. Pure.
 *
 * The kubelet's list knows no uid. A pod's sandbox is the one of its namespace and name that is
 * ready, not of the host's network, and youngest; an entry with a uid (from the kubelet's
 * checkpoint) takes that pod's only. A sandbox that is older than the reservation of a device is
 * not the pod's that it was reserved for. Order of a pod's devices: by resource as the annotation
 * first names it, then by name; within a resource in the natural order of IDs; a device that two
 * containers hold (an init container's, reused) counts once. */
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

/* Not in the list: devices whose pool has no network, whose pod has no sandbox (yet), or has the
 * host's network. An address that two pods ask for, or that `others` have already (records in
 * pods), is an error of the later (younger sandbox). -ENOMEM leaves *ret empty. */
int join_build(struct wanted_list *ret, const struct pools *, const struct host *,
	       const struct pod_list *held, const struct sandbox_list *,
	       const struct attach_record *const *others, size_t n_others);
void wanted_list_done(struct wanted_list *);
const struct wanted *wanted_find(const struct wanted_list *, const char *resource, const char *id);
