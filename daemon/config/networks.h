/* networks.h - what a pod asks for its interfaces: the annotation rocelet.dev/networks. Pure.
 *
 * A JSON list, one object for each interface that is not to be as its pool says:
 *   [{"resource": "rocelet.dev/roce", "interface": "net1", "ips": ["10.9.0.1/24"], "mtu": 9000}]
 * and what the pool's "allow" names:
 *   "mac": "02:..", "vlan": 100, "vlanQoS": 3, "vlanProto": "802.1ad", "spoofchk": "off",
 *   "trust": "on", "linkState": "auto", "minTxRate": 100, "maxTxRate": 1000, "guid": "..",
 *   "gateway": "10.9.0.254", "routes": [{"dst": "10.0.0.0/8", "gw": "10.9.0.254"}]
 * The k-th entry of a resource is for the pod's k-th device of it, in the order of desired.h. Keys
 * are compared as those of pools are: without case, null is absent. */
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

/* Keys of an entry, and of a pool's "network": what stands in both means the same in both. */
enum network_key {
	NETWORK_DRIFT, /* these four of pools only */
	NETWORK_TIMEOUT,
	NETWORK_ALLOW,
	NETWORK_SUBNETS,
	LINK_FIELDS(NETWORK_LINK_KEY),
	VF_KEYS(NETWORK_VF_KEY),
	NETWORK_IPS,
	NETWORK_ROUTES,
	NETWORK_GATEWAY,
	NETWORK_IPAM,	   /* never of a pod's entry */
	NETWORK_INTERFACE, /* from here on of one interface: of entries, and of orders (order.h) */
	NETWORK_MAC,
	NETWORK_GUID,
	NETWORK_RESOURCE, /* of entries only */
	N_NETWORK_KEYS
};
#define NETWORK_BIT(key)       (1u << (key))
/* The key of an enum link_field, of an enum vf_key; the bits of all of them. */
#define NETWORK_OF_LINK(field) (NETWORK_SUBNETS + 1 + (field))
#define NETWORK_OF_VF(key)     (NETWORK_OF_LINK(N_LINK_FIELDS) + (key))
#define NETWORK_SETTINGS       (NETWORK_BIT(NETWORK_OF_VF(N_VF_KEYS)) - NETWORK_BIT(NETWORK_OF_LINK(0)))
_Static_assert(NETWORK_OF_VF(N_VF_KEYS) == NETWORK_IPS, "they are between these two");
_Static_assert(N_NETWORK_KEYS <= 32, "they are bits of an unsigned");

struct network_request {
	char resource[RESOURCE_NAME_SIZE];
	struct net_plan plan; /* what the entry says */
	unsigned keys;	      /* NETWORK_BIT()s of what it says */
	unsigned entry;	      /* of the list, from 1 */
};

struct network_requests {
	struct network_request *items; /* owned */
	size_t n;
};

/* NULL text is the empty list. -EINVAL: "rocelet.dev/networks: entry 2: vlan: 5000 is not between 0
 * and 4094"; the caller puts the pod in front. Unknown keys are refused, with a suggestion: a
 * typing error would start the pod on the wrong network. So are names, addresses and MACs that
 * stand twice. -ENOMEM. *ret is untouched on failure. */
int networks_parse(struct network_requests *ret, const char *text, struct err *);
void network_requests_done(struct network_requests *);

/* The plan of one device: the pool's, with the request's (may be NULL) over it, key by key. What
 * belongs together is replaced together: "ips" its "ips" and "ipam", "routes" or "gateway"
 * all of its routes; "vlan": 0 also takes its QoS and protocol away. number: of the interface in
 * the pod, from 1, for "net1". -EINVAL: what the pool does not allow (network_allowed()), or, "KEY:
 * sentence", what does not go together (network_wrong()). */
int network_plan(struct net_plan *ret, const struct pool_network *, const struct network_request *,
		 unsigned number, struct err *);

/* Whether a pod may ask for that in this pool: the keys of every pod and those that "allow" names,
 * an MTU up to the pool's, addresses within its subnets that are not its gateway. -EINVAL:
 * "rocelet.dev/networks: entry 1: vlan: ..", and what would allow it. */
int network_allowed(const struct pool_network *, const struct network_request *, struct err *);
/* Where the pool says no MTU, the device's own is the most. Fills *e, too. */
int network_mtu_allowed(const struct pool_network *, const struct network_request *,
			unsigned device_mtu, struct err *e);

/* What does not go together in a plan, and the key that it is said of; NULL: all of it does. Some
 * of it: QoS without VLAN, "ips" beside "ipam", a VLAN on a macvlan. */
const char *network_wrong(const struct net_plan *, const char **ret_key);
/* The plan for that function: what only a VF has is refused of others (-EINVAL), a MAC is then set
 * on the netdev alone, as there is no PF to set it through. */
int network_on_function(struct net_plan *, const struct function *, struct err *);
/* The first key of a plan that only a VF has, set through its PF; NULL: there is none. A MAC is not
 * among them. */
const char *network_vf_key(const struct net_plan *);
