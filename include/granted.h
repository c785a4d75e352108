/* granted.h - the device nodes that containers were given, as the kubelet keeps them. Plain data.
 *
 * The kubelet keeps what Allocate answered, in memory and in its checkpoint, and uses it for every
 * start of the container. A path is as good as a device number: the kernel names uverbsN, umadN and
 * issmN after their minor numbers (ib_uverbs_add_one() in
 * linux/drivers/infiniband/core/uverbs_main.c, ib_umad_init_port() in user_mad.c). */
#pragma once

#include <stddef.h>

/* What one container was given for its devices of one resource: which node came with which of the
 * IDs is not recorded. */
struct granted {
	char *uid, *resource; /* the pod's uid */
	char **ids;
	size_t n_ids;
	char **nodes; /* below /dev: "infiniband/uverbs3" */
	size_t n_nodes;
};

/* Owns everything in it; zero-initialised it is the empty list. */
struct granted_list {
	struct granted *items;
	size_t n;
};

void granted_list_done(struct granted_list *);
