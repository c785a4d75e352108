/* network_allow.c - what a pod may ask for beyond what its pool says. The pool is the
 * administrator's, the annotation whoever's may make pods: without "allow" it says only what no
 * other pod notices. See networks.h. Pure. */
#include "network_keys.h"
#include "network_text.h"

#define EVERY_PODS                                                                                 \
	(NETWORK_BIT(NETWORK_RESOURCE) | NETWORK_BIT(NETWORK_INTERFACE) |                          \
	 NETWORK_BIT(NETWORK_IPS) | NETWORK_BIT(NETWORK_MTU))

#define AT    NETWORKS_KEY ": entry %u: "
#define POOL  "%.100s"
#define WOULD "\"allow\": [\"%s\"] in its pool would"

static bool is_allowed(const struct pool_network *network, enum network_key key)
{
	return network->allow & NETWORK_BIT(key);
}

static int check_keys(const struct pool_network *network, const struct network_request *q,
		      struct err *e)
{
	unsigned refused = q->keys & ~(EVERY_PODS | network->allow);

	for (unsigned key = 0; key < N_NETWORK_KEYS; key++) {
		const char *name = network_key_name((enum network_key)key);

		if (refused & NETWORK_BIT(key))
			return err_set(e, -EINVAL, AT "%s: " POOL " does not allow it, " WOULD,
				       q->entry, name, q->resource, name);
	}
	return 0;
}

static int check_mtu(const struct network_request *q, unsigned most, const char *whose,
		     struct err *e)
{
	if (q->plan.mtu <= most)
		return 0;
	return err_set(e, -EINVAL, AT "mtu: %u is above %s %u of " POOL ", " WOULD, q->entry,
		       q->plan.mtu, whose, most, q->resource, network_key_name(NETWORK_MTU));
}

int network_mtu_allowed(const struct pool_network *network, const struct network_request *q,
			unsigned device_mtu, struct err *e)
{
	if (is_allowed(network, NETWORK_MTU) || network->plan.mtu || !device_mtu)
		return 0;
	return check_mtu(q, device_mtu, "the device's", e);
}

/* QoS and protocol are of a VLAN: without one here they would take off the one that the
 * administrator has set on the PF. */
static int check_vlan(const struct pool_network *network, const struct network_request *q,
		      struct err *e)
{
	unsigned of_vlan = NETWORK_BIT(NETWORK_VLAN_QOS) | NETWORK_BIT(NETWORK_VLAN_PROTO);
	bool qos = q->keys & NETWORK_BIT(NETWORK_VLAN_QOS);

	if (!(q->keys & of_vlan) || q->keys & NETWORK_BIT(NETWORK_VLAN) ||
	    network->plan.vf.fields & VF_VLAN)
		return 0;
	return err_set(e, -EINVAL, AT "%s: needs a \"vlan\"", q->entry,
		       network_key_name(qos ? NETWORK_VLAN_QOS : NETWORK_VLAN_PROTO));
}

/* --- addresses -------------------------------------------------------------------------------- */

static bool is_within(const struct ip_prefix *ip, const struct ip_prefix *subnet)
{
	struct ip_prefix masked = *ip;

	if (ip->family != subnet->family)
		return false;
	for (unsigned bit = subnet->len; bit < ip_bits(ip); bit++)
		masked.addr[bit / 8] &= (uint8_t) ~(0x80u >> bit % 8);
	return ip_same_address(&masked, subnet);
}

/* Also of an address that hides its network behind a greater length. */
static bool is_special(const struct ip_prefix *ip, const struct ip_prefix *subnet)
{
	struct ip_prefix there = *ip;

	there.len = subnet->len;
	return ip->family == AF_INET && subnet->len < 31 &&
	       (ip_rest_is(&there, false) || ip_rest_is(&there, true));
}

static bool is_gateway(const struct pool_network *network, const struct ip_prefix *ip)
{
	for (size_t i = 0; i < network->plan.n_routes; i++)
		if (ip_same_address(&network->plan.routes[i].gateway, ip))
			return true;
	return false;
}

/* NULL: it may be had. */
static const char *subnet_wrong(const struct pool_network *network, const struct ip_prefix *ip)
{
	bool wide = false;

	if (is_gateway(network, ip))
		return "is the gateway";
	for (size_t i = 0; i < network->n_subnets; i++) {
		const struct ip_prefix *subnet = &network->subnets[i];

		if (!is_within(ip, subnet))
			continue;
		if (is_special(ip, subnet))
			return "is the network or broadcast address";
		if (ip->len >= subnet->len)
			return NULL;
		wide = true;
	}
	if (wide)
		return "has a shorter length than the subnet";
	return network->n_subnets ? "is in none of the \"subnets\"" : NULL;
}

static int check_ips(const struct pool_network *network, const struct network_request *q,
		     struct err *e)
{
	for (size_t i = 0; i < q->plan.n_ips; i++) {
		const char *wrong = subnet_wrong(network, &q->plan.ips[i]);
		char text[IP_TEXT_SIZE];

		if (!wrong)
			continue;
		ip_prefix_text(&q->plan.ips[i], text);
		return err_set(e, -EINVAL, AT "ips: %s %s of " POOL, q->entry, text, wrong,
			       q->resource);
	}
	return 0;
}

int network_allowed(const struct pool_network *network, const struct network_request *q,
		    struct err *e)
{
	int r = check_keys(network, q, e);

	if (r == 0)
		r = check_vlan(network, q, e);
	if (r == 0 && network->plan.mtu && !is_allowed(network, NETWORK_MTU))
		r = check_mtu(q, network->plan.mtu, "the", e);
	return r < 0 ? r : check_ips(network, q, e);
}
