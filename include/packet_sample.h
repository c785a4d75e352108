/* packet_sample.h - one look at what the packet programs have counted, and where they watch. Plain
 * values for the sampler, the page and the API. */
#pragma once

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model.h"
#include "roce_counts.h"

/* How a program got at the packets. */
enum packet_hook { PACKET_HOOK_NONE, PACKET_HOOK_TCX, PACKET_HOOK_CLSACT, PACKET_HOOK_XDP };
const char *packet_hook_name(enum packet_hook); /* "none", "tcx", "clsact", "xdp" */

/* Why an interface is watched. */
enum packet_role {
	PACKET_SOFT_ROCE, /* carries a soft-RoCE device: everything passes the kernel */
	PACKET_MIRROR,	  /* configured: somebody else's traffic is mirrored to it */
	PACKET_POD,	  /* a VF that we attached to a pod */
	PACKET_PORT,	  /* configured: a PF or a representor */
};
const char *packet_role_name(enum packet_role); /* "soft-roce", "mirror", "pod", "port" */

/* One interface that is watched, or should be. */
struct packet_port {
	char netdev[IFNAMSIZ];
	int nsid, ifindex;	     /* as in struct netdev; a pod's namespace may have no nsid:
					NSID_ELSEWHERE */
	char device[RDMA_NAME_SIZE]; /* its RDMA device, "" = none */
	char function[DEV_ID_SIZE];  /* "" = none */
	enum packet_role role;
	enum packet_hook hook;
	int error;	 /* negative errno: why it is not watched; 0 */
	uint64_t memory; /* bytes of its maps, 0 = unknown */
};

struct packet_flow {
	size_t port; /* index into packet_sample.ports */
	struct roce_flow_key key;
	struct roce_flow flow;
};

/* Owns its arrays. counts[i] belongs to ports[i]; all zero where the hook is none. */
struct packet_sample {
	struct packet_port *ports;
	struct roce_counts (*counts)[N_ROCE_DIRECTIONS];
	size_t n_ports;
	struct packet_flow *flows;
	size_t n_flows;
	uint64_t *evictions; /* per port: flows pushed out of its table */
	uint64_t taken_ns;   /* CLOCK_MONOTONIC */
};

void packet_sample_done(struct packet_sample *);
