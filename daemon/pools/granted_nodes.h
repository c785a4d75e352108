/* SPDX-License-Identifier: Apache-2.0 */
/* granted_nodes.h - checks whether the device nodes that containers were given still belong to
 * their devices. Pure.
 *
 * After a reset, or after its driver was rebound, a device has another minor number, and the next
 * device may get the old number. The kubelet restarts a container with the nodes of its Allocate,
 * and the device cgroup of a running container permits their numbers. */
#pragma once

#include "attach_status.h"
#include "granted.h"
#include "host_index.h"
#include "pools.h"

struct granted_input {
	const struct granted_list *granted;
	const struct pools *pools;
	const struct host *host;
	const struct pod_list *held; /* to ignore grants of pods that have ended */
	/* Soft-RoCE devices created for pods, whose numbers are not in the checkpoint. */
	struct attach_list attachments;
};

/* A node that was granted with a device, but belongs to another device now, or to none. Borrowed
 * from the input. */
struct node_conflict {
	const struct granted *given;	    /* NULL: the containers of `record` may open it */
	const struct attach_record *record; /* of an attachment */
	const char *node;
	const char *function; /* the function that has the node now; NULL = none */
};

/* Zero-initialised it is the empty list. */
struct node_conflicts {
	struct granted_input in;
	struct node_conflict *items;
	size_t n;
};

/* Finds the conflicts. Unknown objects are no conflict: a resource whose IDs are neither functions
 * nor in one of the pools, or a device without an RDMA device in the host's list, unless that list
 * is complete (shared mode). -ENOMEM leaves the empty list. */
int node_conflicts_build(struct node_conflicts *ret, const struct granted_input *);
void node_conflicts_done(struct node_conflicts *);

/* Returns HEALTH_NODE_CHANGED and HEALTH_NODE_HELD (HEALTH_BIT) of an offer. */
unsigned node_conflicts_judge(const struct node_conflicts *, const struct pool_view *,
			      const struct offer *);
/* Checks whether a container with these IDs may start. -ESTALE: it was given a node that belongs to
 * another device now. -EBUSY: a container of another pod may open a node of its device. The message
 * names node, device and pod. */
int node_conflicts_check(const struct node_conflicts *, const struct pool_view *, struct id_list,
			 struct err *);
