/* networks.h - what a pod asks for its interfaces: the annotation rocelet.dev/networks. Pure.
 *
 * A JSON list, one object for each interface that is not to be as its pool says:
 *   [{"resource": "rocelet.dev/roce", "interface": "net1", "ips": ["10.9.0.1/24"], "mac": "02:..",
 *     "vlan": 100, "vlanQoS": 3, "vlanProto": "802.1ad", "mtu": 9000, "gateway": "10.9.0.254",
 *     "routes": [{"dst": "10.0.0.0/8", "gw": "10.9.0.254"}], "spoofchk": "off", "trust": "on",
 *     "linkState": "auto", "minTxRate": 100, "maxTxRate": 1000, "guid": "..",
 *     "ipam": {"type": "host-local", ..}}]
 * The k-th entry of a resource is for the pod's k-th device of it, in the order of join.h. */
#pragma once

#include "attachment.h"
#include "err.h"
#include "pool_config.h"

#define NETWORKS_KEY	  "rocelet.dev/networks"
#define NETWORKS_TEXT_MAX 65536
#define NETWORKS_MAX	  64

struct network_request {
	char resource[RESOURCE_NAME_SIZE];
	/* What the entry says laid over the pool's plan. */
	struct net_plan plan;
	bool has_ips, has_routes, has_ipam;
};

struct network_requests {
	struct network_request *items; /* owned */
	size_t n;
};

/* NULL text is the empty list. -EINVAL: "rocelet.dev/networks: entry 2: vlan: 5000 is not 0 to
 * 4094"; the caller puts the pod in front. Unknown keys are refused, with a suggestion: a typing
 * error would start the pod on the wrong network. -ENOMEM. */
int networks_parse(struct network_requests *ret, const char *text, struct err *);
void network_requests_done(struct network_requests *);

/* The value of a pool's "network" object, and of its "softRoce" and "interface"; in
 * pool_config_native.c's manner. Shared with the annotation: the same keys mean the same. */

/* The plan of one device: the pool's, with the request's (may be NULL) over it. number: of the
 * interface in the pod, from 1, for "net1". -EINVAL: what does not go together (QoS without VLAN,
 * addresses of the pool and IPAM, VLAN on a macvlan). */
int network_plan(struct net_plan *ret, const struct pool_network *, const struct network_request *,
		 unsigned number, struct err *);
