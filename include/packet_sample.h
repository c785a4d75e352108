/* SPDX-License-Identifier: Apache-2.0 */
/* packet_sample.h - one snapshot of the counts of the packet programs, and the interfaces that they
 * watch. Plain values for the sampler, the page and the API. */
#pragma once

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model.h"
#include "roce_counts.h"

/* How a program is attached. XDP sees received packets only. */
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
	PACKET_SOFT_ROCE, /* carries a soft-RoCE device: all its packets pass through the kernel */
	PACKET_MIRROR,	  /* configured: receives traffic mirrored from other ports */
	PACKET_POD,	  /* carries a soft-RoCE device and was attached to a pod by us */
	PACKET_PORT,	  /* configured: a PF or a representor */
};
const char *packet_role_name(enum packet_role); /* "soft-roce", "mirror", "pod", "port" */

/* Whether the interface's RoCE packets pass through the kernel, as measured. RDMA traffic of a NIC
 * bypasses it; zero counts would then be misleading. */
enum packet_visibility { PACKET_VISIBLE_UNKNOWN, PACKET_VISIBLE_NO, PACKET_VISIBLE_YES };

/* Longest name of a namespace: a path, if no shorter name is known. */
#define PACKET_NETNS_SIZE 128

/* One interface that is or should be watched. */
struct packet_port {
	char netdev[IFNAMSIZ];
	int nsid, ifindex; /* as in struct netdev; ifindex 0: only the name is known */
	/* "" = our own; else its name in /run/netns, "id:3", or a path to it. */
	char netns[PACKET_NETNS_SIZE];
	char device[RDMA_NAME_SIZE]; /* its RDMA device, "" = none */
	uint32_t device_port;	     /* port number of that device, 0 = none */
	char function[DEV_ID_SIZE];  /* "" = none */
	enum packet_role role;
	enum packet_hook hook;
	uint32_t flows; /* capacity of its flow table, 0 = none */
	int error; /* negative errno: why it is not watched or could not be read; 0 = no error */
	uint64_t memory; /* bytes of its maps, 0 = unknown */
	enum packet_visibility visible;
};

struct packet_flow {
	size_t port; /* index into packet_sample.ports */
	struct roce_flow_key key;
	struct roce_flow flow;
};

/* Owns its arrays. counts[i] belongs to ports[i]; all zero if the hook is none or there is an
 * error. */
struct packet_sample {
	struct packet_port *ports;
	struct roce_counts (*counts)[N_ROCE_DIRECTIONS];
	size_t n_ports;
	struct packet_flow *flows; /* only if requested */
	size_t n_flows;
	uint64_t taken_ns; /* CLOCK_MONOTONIC */
};

/* Returns the number of packets marked CE (RFC 3168), of any DSCP. */
uint64_t roce_counts_marked(const struct roce_counts *);

/* Returns the quantile q (0 to 1) of round-trip times in buckets (roce_counts.h), in ns,
 * interpolated within its bucket; the lower bound if it is in the last bucket. UINT64_MAX: there
 * are no round trips. */
uint64_t roce_rtt_quantile(const uint32_t rtt[ROCE_RTT_BUCKETS], double q);
/* Frees what it owns and leaves the empty sample. */
void packet_sample_done(struct packet_sample *);
