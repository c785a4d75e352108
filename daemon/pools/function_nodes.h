/* function_nodes.h - which device nodes one function brings into a container. Pure.
 *
 * What a pool's selectors ask for decides: RDMA (isRdma, every shared pool), vDPA, vhost-net. Where
 * only some of the selectors ask for something, it is given to the functions that have it. The
 * nodes of a user space driver (vfio, uio) come with a function that is bound to one. */
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
	/* Its first RDMA device, borrowed from the host; NULL = none, or none is asked for. */
	const struct rdma_dev *rdma;
	/* By pool and function together. vdpa: a vDPA device is given, by node or as a netdev. */
	bool vdpa, vhost;
};

/* All nodes of a function of in->view's pool, each of which is there now. -ENODEV: one that it
 * must have is not; the sentence names it. -ENOMEM. *ret is empty on failure. */
int function_nodes_collect(struct function_nodes *ret, const struct allocation_input *in,
			   const struct function *, struct err *);
/* The one node of a pool that gives all of /dev/infiniband away. */
int function_nodes_folder(struct function_nodes *ret, const struct allocation_input *in,
			  struct err *);
void function_nodes_done(struct function_nodes *);
/* Path inside the container of the first node with that role; NULL = none. Borrowed. */
const char *function_nodes_path(const struct function_nodes *, enum node_role);
