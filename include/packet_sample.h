/* packet_sample.h - one look at what the packet programs have counted, and where they watch. Plain
 * values for the sampler, the page and the API. */
#pragma once

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model.h"
#include "roce_counts.h"

/* How a program got at the packets. At XDP only what is received is seen. */
enum packet_hook {
	PACKET_HOOK_NONE,
	PACKET_HOOK_TCX,
	PACKET_HOOK_CLSACT,
	PACKET_HOOK_XDP,
	N_PACKET_HOOKS
};
const char *packet_hook_name(enum packet_hook); /* "none", "tcx", "clsact", "xdp" */

/* Why an interface is watched. */
enum packet_role {
	PACKET_SOFT_ROCE, /* carries a soft-RoCE device: everything passes the kernel */
	PACKET_MIRROR,	  /* configured: somebody else's traffic is mirrored to it */
	PACKET_POD,	  /* a soft-RoCE device's, on an interface that we attached to a pod */
	PACKET_PORT,	  /* configured: a PF or a representor */
};
const char *packet_role_name(enum packet_role); /* "soft-roce", "mirror", "pod", "port" */

/* Whether the interface's RoCE packets pass the kernel, as measured: a NIC's own RDMA traffic does
 * not, and then zeros would only look like numbers. */
enum packet_visibility { PACKET_VISIBLE_UNKNOWN, PACKET_VISIBLE_NO, PACKET_VISIBLE_YES };

/* Longest name of a namespace here: a path, where nothing shorter is known. */
#define PACKET_NETNS_SIZE 128

/* One interface that is watched, or should be. */
struct packet_port {
	char netdev[IFNAMSIZ];
	int nsid, ifindex; /* as in struct netdev; ifindex 0: it is known by its name only */
	/* "" = our own; else its name in /run/netns, "id:3", or a path that leads to it. */
	char netns[PACKET_NETNS_SIZE];
	char device[RDMA_NAME_SIZE]; /* its RDMA device, "" = none */
	uint32_t device_port;	     /* of that device, 0 = none */
	char function[DEV_ID_SIZE];  /* "" = none */
	enum packet_role role;
	enum packet_hook hook;
	uint32_t flows;	 /* entries of its table of flows, 0 = none */
	int error;	 /* negative errno: why it is not watched, or could not be read; 0 */
	uint64_t memory; /* bytes of its maps, 0 = unknown */
	enum packet_visibility visible;
};

struct packet_flow {
	size_t port; /* index into packet_sample.ports */
	struct roce_flow_key key;
	struct roce_flow flow;
};

/* Owns its arrays. counts[i] belongs to ports[i]; all zero where the hook is none
 * or there is an error. */
struct packet_sample {
	struct packet_port *ports;
	struct roce_counts (*counts)[N_ROCE_DIRECTIONS];
	size_t n_ports;
	struct packet_flow *flows; /* only where asked for */
	size_t n_flows;
	uint64_t taken_ns; /* CLOCK_MONOTONIC */
};

/* Packets with CE (RFC 3168), of any DSCP. */
uint64_t roce_counts_marked(const struct roce_counts *);

/* Frees what it owns and leaves the empty sample. */
void packet_sample_done(struct packet_sample *);
