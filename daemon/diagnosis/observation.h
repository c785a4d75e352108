/* observation.h - what diagnosis is told at one point in time: plain values, filled by the sampler
 * or from a scenario file. Pure.
 *
 * Whoever fills it keeps one for each port and overwrites it, so that nothing is allocated while
 * ports stay the same. What cannot be seen is NaN, "", 0 or false as each says, and changes
 * nothing. */
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

/* The port's queue pairs in sum, from restrack, BPF or nldev. */
struct observed_qps {
	bool known;
	uint32_t count;
	uint32_t peers;	   /* distinct addresses they are connected to */
	uint32_t not_ect;  /* whose traffic class has ECN bits 00 */
	uint32_t path_mtu; /* greatest, bytes; 0 = unknown */
	/* The most queue pairs to one peer that all have one flow label, not made of their numbers.
	 */
	bool labels_known; /* of all queue pairs to some peer */
	uint32_t one_label;
	bool failures_known;	       /* the next three tell something */
	uint32_t failed;	       /* that went into the error state during the last minute */
	uint32_t failed_peers;	       /* distinct peers of those */
	char peer[OBSERVED_PEER_SIZE]; /* the peer of those, if it is one; "" = unknown */
};

struct observed_health {
	char devlink_error[32];	   /* a health reporter in state error */
	bool unreachable;	   /* configuration space reads all ones */
	bool driverless;	   /* a function that is to have an RDMA device has none */
	uint64_t command_failures; /* of the firmware, since any point in time */
	/* Character devices that pods cannot open: they have no node in /dev/infiniband. */
	bool no_uverbs, no_umad;
	char restricted[64]; /* what the firmware refuses this function by design */
};

struct port_observation {
	char device[RDMA_NAME_SIZE];
	uint32_t port;
	uint32_t index; /* as in struct rdma_dev: another device of that name counts from 0 on */
	char netdev[IFNAMSIZ];
	char function[DEV_ID_SIZE], parent[DEV_ID_SIZE]; /* parent: a VF's PF */
	char driver[32];
	char bytes_source[16]; /* as in struct sampled_port, or "bpf" */
	bool visible;	       /* it could be read this time; false: nothing below counts */
	bool management;       /* it carries the node's default route */
	bool admin_down;       /* somebody took the netdev down on purpose */
	bool was_active;       /* known to have been active before we first saw it */
	bool gid_moved;	       /* an address moved to another GID index a moment ago */
	enum port_state state;
	enum link_layer link_layer;
	uint64_t rate_bps; /* bits a second; 0 = unknown */
	unsigned mtu;	   /* RoCE MTU in bytes; 0 = unknown */
	double value[N_SERIES];
	/* For how long at a stretch nothing moved because of pause, in bursts of looks since the
	 * sample before; NaN: nobody looked. */
	double stood_received_s, stood_sent_s;
	const struct port_settings *settings; /* borrowed; NULL = unknown */
	const struct observed_pod *pods;      /* borrowed */
	size_t n_pods;
	struct observed_qps qps;
	struct observed_health health;
};

struct observation {
	uint64_t now_ms;  /* monotonic; one that does not grow is passed over */
	uint64_t unix_ms; /* as people tell time; only for texts */
	/* Between two samples of all ports, some are looked at more often: those that are not among
	 * `ports` then are not gone. */
	bool partial;
	const struct port_observation *ports;
	size_t n_ports;
	struct source_state sources[N_SOURCES];
};

/* All values unknown, the port visible. */
void port_observation_init(struct port_observation *);
/* Where it is among them, looked for from hint on; port 0: the next one of the device. SIZE_MAX:
 * nowhere. */
size_t observed_port(const struct port_observation *, size_t n, const char *device, uint32_t port,
		     size_t hint);
/* A device that the kernel plays on a netdev (rxe). */
bool is_soft_roce(const struct port_observation *);
