/* granted_nodes.h - do the device nodes that containers were given still lead to their devices?
 * Pure.
 *
 * A driver that is bound again, or a reset, gives a device another number, and its old number to
 * the next device. The kubelet starts a container again with the nodes that it was given at
 * Allocate, and a running one may open the numbers that it was given (its device cgroup). */
#pragma once

#include "attach_status.h"
#include "granted.h"
#include "host_index.h"
#include "pools.h"

struct granted_input {
	const struct granted_list *granted;
	const struct pools *pools;
	const struct host *host;
	const struct pod_list *held; /* what was given to a pod that has ended counts no more */
	/* Soft-RoCE devices that were made for pods: their numbers are not in the checkpoint. */
	struct attach_list attachments;
};

/* A node that was given with a device and is not the device's now. Borrowed from the input. */
struct node_conflict {
	const struct granted *given;	    /* NULL: `record` tells who may open it */
	const struct attach_record *record; /* of an attachment */
	const char *node;
	const char *function; /* that has the node now; NULL = none has */
};

/* Zero-initialised it is the empty list. */
struct node_conflicts {
	struct granted_input in;
	struct node_conflict *items;
	size_t n;
};

/* What cannot be seen is no conflict: a resource whose IDs are neither functions nor in one of the
 * pools, or a device that has no RDMA device in the host's list. -ENOMEM leaves the empty list. */
int node_conflicts_build(struct node_conflicts *ret, const struct granted_input *);
void node_conflicts_done(struct node_conflicts *);

/* HEALTH_NODE_CHANGED and HEALTH_NODE_HELD (HEALTH_BIT) of an offer. */
unsigned node_conflicts_judge(const struct node_conflicts *, const struct pool_view *,
			      const struct offer *);
/* May a container with these IDs start? -ESTALE: it was given a node that is not its device's now.
 * -EBUSY: a container of another pod may open a node of its device. The sentence names node, device
 * and pod. */
int node_conflicts_check(const struct node_conflicts *, const struct pool_view *, struct id_list,
			 struct err *);
