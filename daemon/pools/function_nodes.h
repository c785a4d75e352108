/* SPDX-License-Identifier: Apache-2.0 */
/* function_nodes.h - the device nodes that a container gets for one function. Pure.
 *
 * The pool's selectors decide: RDMA (isRdma, and every shared pool), vDPA, vhost-net. If only some
 * of the selectors request one of these, a function without it is accepted. For a function that is
 * bound to a user space driver (vfio, uio), the container also gets that driver's nodes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "allocation.h"

enum node_role {
	NODE_UVERBS,
	NODE_UMAD,
	NODE_ISSM,
	NODE_UCM,
	NODE_RDMA_CM,
	NODE_VFIO_CONTAINER, /* /dev/vfio/vfio */
	NODE_VFIO,	     /* the function's IOMMU group */
	NODE_UIO,
	NODE_VDPA,
	NODE_VHOST_NET,
	NODE_TUN,
	NODE_RDMA_FOLDER, /* /dev/infiniband as a whole */
};

#define NODE_PATH_SIZE 64

struct function_node {
	enum node_role role;
	char host_path[NODE_PATH_SIZE], container_path[NODE_PATH_SIZE];
};

struct function_nodes {
	struct function_node *list;
	size_t n;
	/* The function's first RDMA device, borrowed from the host; NULL = none, or not
	 * requested. */
	const struct rdma_dev *rdma;
	/* The nodes that the pool requests and the function has. vdpa: the container gets a vDPA
	 * device, by a node or as a netdev. */
	bool vdpa, vhost;
};

/* Collects all nodes of a function for in->view's pool; each of them exists. -ENODEV: a required
 * node is missing; the message names it. -ENOMEM. *ret is empty on failure. */
int function_nodes_collect(struct function_nodes *ret, const struct allocation_input *in,
			   const struct function *, struct err *);
/* Returns the single node of a pool that grants /dev/infiniband as a whole. */
int function_nodes_folder(struct function_nodes *ret, const struct allocation_input *in,
			  struct err *);
void function_nodes_done(struct function_nodes *);
/* Returns the path inside the container of the first node with that role; NULL = none. Borrowed. */
const char *function_nodes_path(const struct function_nodes *, enum node_role);
