/* SPDX-License-Identifier: Apache-2.0 */
/* granted.h - the device nodes that Allocate gave to containers, as stored by the kubelet. Plain
 * data.
 *
 * The kubelet keeps each Allocate answer in memory and in its checkpoint, and uses it for every
 * start of the container. A path is equivalent to a device number: the kernel names uverbsN, umadN
 * and issmN after their minor numbers (ib_uverbs_add_one() in
 * linux/drivers/infiniband/core/uverbs_main.c, ib_umad_init_port() in user_mad.c). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Annotation of an Allocate answer: the pool had no network at that time, so the running pod gets
 * none later. */
#define GRANTED_NETWORK_KEY  "rocelet.dev/network"
#define GRANTED_NETWORK_NONE "none"

/* The nodes that one container was given for its devices of one resource. The kubelet does not
 * record which node belongs to which ID. */
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
	uint64_t read_ms; /* loop time of the read; later allocations are not in the list */
};

void granted_list_done(struct granted_list *);
/* True if the pool of the device had no network when it was allocated. reserved_ms: time of the
 * last Allocate, 0 = unknown. False if the list is older than that. */
bool granted_has_no_network(const struct granted_list *, const char *resource, const char *id,
			    uint64_t reserved_ms);
