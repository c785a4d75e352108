/* SPDX-License-Identifier: Apache-2.0 */
/* networks.h - the annotation rocelet.dev/networks, in which a pod requests settings for its
 * interfaces. Pure.
 *
 * A JSON list, one object for each interface that should differ from its pool's settings:
 *   [{"resource": "rocelet.dev/roce", "interface": "net1", "ips": ["10.9.0.1/24"], "mtu": 9000}]
 * and, if they are in the pool's "allow":
 *   "mac": "02:..", "vlan": 100, "vlanQoS": 3, "vlanProto": "802.1ad", "spoofchk": "off",
 *   "trust": "on", "linkState": "auto", "minTxRate": 100, "maxTxRate": 1000, "guid": "..",
 *   "gateway": "10.9.0.254", "routes": [{"dst": "10.0.0.0/8", "gw": "10.9.0.254"}]
 * Entry k of a resource applies to the pod's k-th device of it, in the order of desired.h. As in
 * pools, the case of keys is ignored, and null means absent. */
#pragma once

#include "attachment.h"
#include "err.h"
#include "pool_config.h"
#include "vf_fields.h"

#define NETWORKS_KEY	  "rocelet.dev/networks"
#define NETWORKS_TEXT_MAX 65536
#define NETWORKS_MAX	  64

#define NETWORK_LINK_KEY(id, ...) NETWORK_##id
#define NETWORK_VF_KEY(id, ...)	  NETWORK_##id

/* Keys of an entry, and of a pool's "network"; keys of both have the same meaning. */
enum network_key {
	NETWORK_DRIFT, /* these four only in pools */
	NETWORK_TIMEOUT,
	NETWORK_ALLOW,
	NETWORK_SUBNETS,
	LINK_FIELDS(NETWORK_LINK_KEY),
	VF_KEYS(NETWORK_VF_KEY),
	NETWORK_IPS,
	NETWORK_ROUTES,
	NETWORK_GATEWAY,
	NETWORK_IPAM,	   /* never in a pod's entry */
	NETWORK_INTERFACE, /* from here on only for a single interface: in entries, and in admin
			    * requests (admin_request.h) */
	NETWORK_MAC,
	NETWORK_GUID,
	NETWORK_RESOURCE, /* only in entries */
	N_NETWORK_KEYS
};
#define NETWORK_BIT(key)       (1u << (key))
/* The key of an enum link_field and of an enum vf_key, and the bits of all of these keys. */
#define NETWORK_OF_LINK(field) (NETWORK_SUBNETS + 1 + (field))
#define NETWORK_OF_VF(key)     (NETWORK_OF_LINK(N_LINK_FIELDS) + (key))
#define NETWORK_SETTINGS       (NETWORK_BIT(NETWORK_OF_VF(N_VF_KEYS)) - NETWORK_BIT(NETWORK_OF_LINK(0)))
_Static_assert(NETWORK_OF_VF(N_VF_KEYS) == NETWORK_IPS, "these keys are adjacent");
_Static_assert(N_NETWORK_KEYS <= 32, "the keys are bits of an unsigned");

struct network_request {
	char resource[RESOURCE_NAME_SIZE];
	struct net_plan plan; /* the entry's values */
	unsigned keys;	      /* NETWORK_BIT()s of the keys present */
	unsigned entry;	      /* number in the list, from 1 */
};

struct network_requests {
	struct network_request *items; /* owned */
	size_t n;
};

/* Parses the annotation; NULL is an empty list. -EINVAL: "rocelet.dev/networks: entry 2: vlan: 5000
 * is not between 0 and 4094"; the caller adds the pod. Unknown keys are errors, with a suggestion,
 * because a misspelt key would start the pod on the wrong network. So are duplicate names,
 * addresses and MACs. -ENOMEM. *ret is untouched on failure. */
int networks_parse(struct network_requests *ret, const char *text, struct err *);
void network_requests_done(struct network_requests *);

/* Makes the plan of one device: the pool's, overridden by the request (may be NULL) key by key.
 * Related values are replaced together: "ips" replaces "ips" and "ipam"; "routes" or "gateway" all
 * routes; "vlan": 0 also removes QoS and protocol. number: of the interface in the pod, from 1, for
 * the name "net1". -EINVAL: not allowed by the pool (network_allowed()), or "KEY: message" for
 * contradictions (network_wrong()). */
int network_plan(struct net_plan *ret, const struct pool_network *, const struct network_request *,
		 unsigned number, struct err *);

/* Checks whether the pool allows the request: keys that every pod may use and those in "allow", an
 * MTU up to the pool's, and addresses within its subnets other than its gateway. -EINVAL:
 * "rocelet.dev/networks: entry 1: vlan: ..", and the setting that would allow it. */
int network_allowed(const struct pool_network *, const struct network_request *, struct err *);
/* Like network_allowed(), for the MTU: if the pool has none, the device's own is the maximum. */
int network_mtu_allowed(const struct pool_network *, const struct network_request *,
			unsigned device_mtu, struct err *e);

/* Returns a message about a contradiction in a plan, and its key; NULL: none. Examples: QoS without
 * VLAN, "ips" together with "ipam", a VLAN on a macvlan. */
const char *network_wrong(const struct net_plan *, const char **ret_key);
/* Adapts the plan to a function. If it is not a VF, settings that only VFs have are -EINVAL, and
 * its MAC is set on the netdev only, because there is no PF. */
int network_on_function(struct net_plan *, const struct function *, struct err *);
/* Returns the first key of a plan that only VFs have, because it is set through the PF; NULL: none.
 * A MAC is ignored. */
const char *network_vf_key(const struct net_plan *);
