/* SPDX-License-Identifier: Apache-2.0 */
/* observation.h - the input of diagnosis at one point in time: plain values from the sampler or a
 * scenario file. Pure.
 *
 * The caller keeps one per port and overwrites it, so nothing is allocated while the ports stay the
 * same. A value that is not visible is NaN, "", 0 or false, as noted at each field, and has no
 * effect on the verdicts. */
#pragma once

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model.h"
#include "port_settings.h"
#include "sample.h"
#include "series.h"

#define OBSERVED_PEER_SIZE 48 /* an IPv6 address in text */

/* A pod that uses the port. Sizes are Kubernetes' limits. */
struct observed_pod {
	char namespace[64], name[254];
	bool ended; /* its container ended less than a minute ago */
};

/* Totals over the port's queue pairs, from restrack, BPF or nldev. */
struct observed_qps {
	bool known;
	uint32_t count;
	uint32_t peers;	   /* distinct addresses they are connected to */
	uint32_t not_ect;  /* queue pairs with ECN bits 00 in their traffic class */
	uint32_t path_mtu; /* greatest path MTU in bytes; 0 = unknown */
	bool labels_known; /* flow labels of all queue pairs to at least one peer are known */
	/* Greatest number of queue pairs to one peer that all have the same flow label other than
	 * 0. */
	uint32_t one_label;
	bool failures_known;	       /* the next three fields are valid */
	uint32_t failed;	       /* entered the error state during the last minute */
	uint32_t failed_peers;	       /* distinct peers of those queue pairs */
	char peer[OBSERVED_PEER_SIZE]; /* the peer, if there is only one; "" = unknown */
};

struct observed_health {
	char devlink_error[32];	   /* name of a health reporter in state error */
	bool unreachable;	   /* configuration space reads all ones */
	bool driverless;	   /* a function that should have an RDMA device has none */
	uint64_t command_failures; /* failed firmware commands, from any starting point */
	/* Character devices without a node in /dev/infiniband, so pods cannot open them. */
	bool no_uverbs, no_umad;
	char restricted[64]; /* requests that the firmware rejects on this function by design */
};

struct port_observation {
	char device[RDMA_NAME_SIZE];
	uint32_t port;
	uint32_t index; /* as in struct rdma_dev; a new device of the same name has another index */
	char netdev[IFNAMSIZ];
	char function[DEV_ID_SIZE], parent[DEV_ID_SIZE]; /* parent: a VF's PF */
	char driver[32];
	char bytes_source[16]; /* as in struct sampled_port, or "bpf" */
	bool visible;	       /* false: it could not be read, and the fields below are not valid */
	bool management;       /* it carries the node's default route */
	bool admin_down; /* its netdev is set down, or it is down while its PF's link is up: no link
			    failed */
	bool link_disabled; /* a VF whose PF keeps its link down (VF link state "disable") */
	bool was_active;    /* was active before rocelet first saw it */
	bool gid_moved;	    /* an address has just moved to another GID index */
	enum port_state state;
	enum link_layer link_layer;
	uint64_t rate_bps; /* bits a second; 0 = unknown */
	unsigned mtu;	   /* RoCE MTU in bytes; 0 = unknown */
	double value[N_SERIES];
	/* Longest time in seconds that pause stopped all traffic, from burst reads since the
	 * previous sample; NaN: there were none. */
	double stalled_received_s, stalled_sent_s;
	const struct port_settings *settings; /* borrowed; NULL = unknown */
	const struct observed_pod *pods;      /* borrowed */
	size_t n_pods;
	struct observed_qps qps;
	struct observed_health health;
};

struct observation {
	uint64_t now_ms;  /* monotonic; ignored unless it grows */
	uint64_t unix_ms; /* wall clock; used in texts only */
	/* A sample of some ports, between two samples of all ports: a port that is not in `ports`
	 * has not been removed. */
	bool partial;
	const struct port_observation *ports;
	size_t n_ports;
	struct source_state sources[N_SOURCES];
};

/* Sets all values to unknown, and the port to visible. */
void port_observation_init(struct port_observation *);
/* Returns the index of a port, searched from hint on; port 0: any port of the device. SIZE_MAX: not
 * found. */
size_t observed_port(const struct port_observation *, size_t n, const char *device, uint32_t port,
		     size_t hint);
/* True for software RoCE on a netdev (rxe). */
bool is_soft_roce(const struct port_observation *);
