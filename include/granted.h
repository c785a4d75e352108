/* granted.h - the device nodes that containers were given, as the kubelet keeps them. Plain data.
 *
 * The kubelet keeps what Allocate answered, in memory and in its checkpoint, and uses it for every
 * start of the container. A path is as good as a device number: the kernel names uverbsN, umadN and
 * issmN after their minor numbers (ib_uverbs_add_one() in
 * linux/drivers/infiniband/core/uverbs_main.c, ib_umad_init_port() in user_mad.c). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An annotation of the answer: the pool had no network when it gave the devices away, and a running
 * pod is given none later. */
#define GRANTED_NETWORK_KEY  "rocelet.dev/network"
#define GRANTED_NETWORK_NONE "none"

/* What one container was given for its devices of one resource: which node came with which of the
 * IDs is not recorded. */
struct granted {
	char *uid, *resource; /* the pod's uid */
	char **ids;
	size_t n_ids;
	char **nodes; /* below /dev: "infiniband/uverbs3" */
	size_t n_nodes;
	bool no_network; /* GRANTED_NETWORK_NONE */
};

/* Owns everything in it; zero-initialised it is the empty list. */
struct granted_list {
	struct granted *items;
	size_t n;
	uint64_t read_ms; /* loop time; it tells nothing of what was allocated later */
};

void granted_list_done(struct granted_list *);
/* The device was given to a container by a pool that had no network then. reserved_ms: when it was
 * last allocated, 0 = unknown. */
bool granted_has_no_network(const struct granted_list *, const char *resource, const char *id,
			    uint64_t reserved_ms);
