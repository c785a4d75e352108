// SPDX-License-Identifier: Apache-2.0
/* networks.c - parses the annotation, and applies it to a pool's plan. */
#include "networks.h"

#include <linux/if_ether.h>

#include "array.h"
#include "cleanup.h"
#include "json_text.h"
#include "network_keys.h"
#include "network_text.h"
#include "search.h"

/* --- the annotation --------------------------------------------------------------------------- */

void network_requests_done(struct network_requests *r)
{
	free(r->items);
	*r = (struct network_requests){0};
}

static const struct net_plan *find_ip(const struct net_plan *a, const struct ip_prefix *ip)
{
	for (size_t i = 0; i < a->n_ips; i++)
		if (ip_same_address(&a->ips[i], ip))
			return a;
	return NULL;
}

/* Checks entry i and the later entry at `at` for duplicates. */
static int check_pair(struct parse *p, const struct json_place *at, size_t i,
		      const struct net_plan *a, const struct net_plan *b)
{
	char text[IP_TEXT_SIZE];

	if (a->ifname[0] && strcmp(a->ifname, b->ifname) == 0)
		return parse_fail(p, at, "interface: %s is already used by entry %zu", b->ifname,
				  i + 1);
	if (a->has_mac && b->has_mac && memcmp(a->mac, b->mac, sizeof(a->mac)) == 0)
		return parse_fail(p, at, "mac: is already used by entry %zu", i + 1);
	for (size_t k = 0; k < b->n_ips; k++) {
		if (!find_ip(a, &b->ips[k]))
			continue;
		ip_address_text(&b->ips[k], text);
		return parse_fail(p, at, "ips: %s is already used by entry %zu", text, i + 1);
	}
	return 0;
}

static int read_entry(struct parse *p, const struct json_place *at, const json_t *object,
		      void *field)
{
	struct network_requests *list = field;
	struct network_values values = {0};
	struct network_request *slot;
	int r = network_keys_of_entry(p, at, object, &values);

	if (r == 0 && values.request.resource[0] == '\0')
		r = parse_fail(p, at, "\"resource\" is missing");
	for (size_t i = 0; i < list->n && r == 0; i++)
		r = check_pair(p, at, i, &list->items[i].plan, &values.request.plan);
	if (r < 0)
		return r;
	slot = array_push(list->items, list->n);
	if (!slot)
		return parse_no_memory(p);
	*slot = values.request;
	slot->entry = (unsigned)list->n;
	return 0;
}

static int read_entries(struct parse *p, const json_t *root, struct network_requests *list)
{
	if (json_array_size(root) > NETWORKS_MAX)
		return parse_fail(p, NULL, "has %zu entries, more than %d", json_array_size(root),
				  NETWORKS_MAX);
	return parse_each(p, NULL, root, "a list", read_entry, list);
}

static json_t *annotation_load(struct parse *p, const char *text)
{
	size_t len = strnlen(text, NETWORKS_TEXT_MAX + 1);
	json_error_t where;
	json_t *root;

	if (len > NETWORKS_TEXT_MAX) {
		parse_fail(p, NULL, "is too long, it may have %d bytes", NETWORKS_TEXT_MAX);
		return NULL;
	}
	root = json_text_load(text, len, JSON_REJECT_DUPLICATES, &where);
	if (!root && json_text_no_memory(&where))
		parse_no_memory(p);
	else if (!root)
		parse_fail(p, NULL, "is not JSON: line %d, column %d: %s", where.line, where.column,
			   where.text);
	return root;
}

int networks_parse(struct network_requests *ret, const char *text, struct err *e)
{
	struct network_requests list = {0};
	struct err mine = {0};
	struct parse p = {.file = NETWORKS_KEY, .strict = true, .err = e ? e : &mine};
	json_t *root = text ? annotation_load(&p, text) : NULL;
	int r = text && !root ? p.err->code : 0;

	if (root)
		r = read_entries(&p, root, &list);
	json_decref(root);
	if (r < 0)
		network_requests_done(&list);
	else
		*ret = list;
	return r;
}

/* --- contradictions --------------------------------------------------------------------------- */

static const char *vlan_wrong(const struct vf_settings *vf, const char **ret_key)
{
	if (vf->vlan != 0 || !(vf->fields & VF_VLAN))
		return NULL;
	*ret_key = "vlanQoS";
	if (vf->vlan_qos != 0)
		return "needs a \"vlan\"";
	*ret_key = "vlanProto";
	return vf->vlan_proto == ETH_P_8021AD ? "802.1ad needs a \"vlan\"" : NULL;
}

/* Rejects settings that a macvlan or ipvlan cannot have, because its parent netdev is shared. */
static const char *stacked_wrong(const struct net_plan *plan, const char **ret_key)
{
	*ret_key = network_vf_key(plan);
	if (*ret_key)
		return "is a setting of VFs, which a macvlan or ipvlan does not have";
	*ret_key = "softRoce";
	if (plan->soft_roce)
		return "a slot uses the RDMA device of its HCA";
	*ret_key = "mac";
	return plan->kind == PLAN_IPVLAN && plan->has_mac
		       ? "an ipvlan has the MAC of the netdev below it"
		       : NULL;
}

/* Returns why the MTU is wrong; NULL: it is valid. IPv6 requires an MTU of 1280 bytes (RFC 8200,
 * section 5); the kernel disables it below that. */
static const char *mtu_wrong(const struct net_plan *plan)
{
	for (size_t i = 0; i < plan->n_ips && plan->mtu; i++)
		if (plan->mtu < 1280 && ip_bits(&plan->ips[i]) == 128)
			return "is below 1280, which an IPv6 address needs";
	return NULL;
}

const char *network_wrong(const struct net_plan *plan, const char **ret_key)
{
	const char *wrong = vlan_wrong(&plan->vf, ret_key);

	if (!wrong && plan->kind != PLAN_VF)
		wrong = stacked_wrong(plan, ret_key);
	if (wrong)
		return wrong;
	*ret_key = "minTxRate";
	if (plan->vf.max_rate && plan->vf.min_rate > plan->vf.max_rate)
		return "is more than \"maxTxRate\"";
	*ret_key = "ipam";
	if (plan->n_ips && plan->ipam[0])
		return "excludes \"ips\": give only one of them";
	*ret_key = "mtu";
	return mtu_wrong(plan);
}

const char *network_vf_key(const struct net_plan *plan)
{
	for (size_t i = 0; i < N_VF_KEYS; i++)
		if (plan->vf.fields & vf_keys[i].bit)
			return vf_keys[i].key;
	return plan->vf.fields & VF_NODE_GUID ? network_key_name(NETWORK_GUID) : NULL;
}

int network_on_function(struct net_plan *plan, const struct function *fn, struct err *e)
{
	const char *key;

	if (fn->kind == FN_VF)
		return 0;
	key = network_vf_key(plan);
	if (key)
		return err_set(e, -EINVAL, "%s: %s is not a VF, and only a VF has this setting",
			       key, fn->id);
	plan->vf.fields = 0;
	return 0;
}

/* --- overriding a pool's plan ----------------------------------------------------------------- */

static void override_vlan(struct vf_settings *ret, const struct network_request *q)
{
	if (q->keys & NETWORK_BIT(NETWORK_VLAN)) {
		ret->vlan = q->plan.vf.vlan;
		if (ret->vlan == 0) {
			ret->vlan_qos = 0;
			ret->vlan_proto = ETH_P_8021Q;
		}
	}
	if (q->keys & NETWORK_BIT(NETWORK_VLAN_QOS))
		ret->vlan_qos = q->plan.vf.vlan_qos;
	if (q->keys & NETWORK_BIT(NETWORK_VLAN_PROTO) || ret->vlan_proto == 0)
		ret->vlan_proto = q->plan.vf.vlan_proto;
}

static void override_vf(struct vf_settings *ret, const struct network_request *q)
{
	override_vlan(ret, q);
	vf_settings_copy(ret, &q->plan.vf, q->plan.vf.fields & ~(unsigned)VF_VLAN);
	ret->fields |= q->plan.vf.fields;
}

static void override_addresses(struct net_plan *ret, const struct network_request *q)
{
	if (q->keys & NETWORK_BIT(NETWORK_IPS)) {
		memcpy(ret->ips, q->plan.ips, sizeof(ret->ips));
		ret->n_ips = q->plan.n_ips;
		memset(ret->ipam, 0, sizeof(ret->ipam));
	}
	if (q->keys & (NETWORK_BIT(NETWORK_ROUTES) | NETWORK_BIT(NETWORK_GATEWAY))) {
		memcpy(ret->routes, q->plan.routes, sizeof(ret->routes));
		ret->n_routes = q->plan.n_routes;
	}
}

static void override_plan(struct net_plan *ret, const struct network_request *q)
{
	memcpy(ret->ifname, q->plan.ifname, sizeof(ret->ifname));
	for (size_t i = 0; i < N_LINK_FIELDS; i++)
		if (q->plan.link[i])
			ret->link[i] = q->plan.link[i];
	if (q->plan.has_mac) {
		ret->has_mac = true;
		memcpy(ret->mac, q->plan.mac, sizeof(ret->mac));
	}
	override_vf(&ret->vf, q);
	override_addresses(ret, q);
}

int network_plan(struct net_plan *ret, const struct pool_network *network,
		 const struct network_request *q, unsigned number, struct err *e)
{
	const char *wrong, *key;

	int r = q ? network_allowed(network, q, e) : 0;

	*ret = network->plan;
	if (q && r == 0)
		override_plan(ret, q);
	if (ret->ifname[0] == '\0')
		snprintf(ret->ifname, sizeof(ret->ifname), "net%u", number);
	if (r < 0)
		return r;
	if (ret->kind != PLAN_VF)
		ret->vf.fields &= ~(unsigned)VF_MAC;
	wrong = network_wrong(ret, &key);
	return wrong ? err_set(e, -EINVAL, "%s: %s", key, wrong) : 0;
}

/* --- allowed requests ------------------------------------------------------------------------- */

static unsigned keys_of_every_pod(void)
{
	unsigned keys = NETWORK_BIT(NETWORK_RESOURCE) | NETWORK_BIT(NETWORK_INTERFACE) |
			NETWORK_BIT(NETWORK_IPS);

	for (size_t i = 0; i < N_LINK_FIELDS; i++)
		if (link_fields[i].every_pod)
			keys |= NETWORK_BIT(NETWORK_OF_LINK(i));
	return keys;
}

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
	unsigned refused = q->keys & ~(keys_of_every_pod() | network->allow);

	for (unsigned key = 0; key < N_NETWORK_KEYS; key++) {
		const char *name = network_key_name((enum network_key)key);

		if (refused & NETWORK_BIT(key))
			return err_set(e, -EINVAL, AT "%s: " POOL " does not allow it, " WOULD,
				       q->entry, name, q->resource, name);
	}
	return 0;
}

static int check_mtu(const struct network_request *q, unsigned most, const char *owner,
		     struct err *e)
{
	if (q->plan.mtu <= most)
		return 0;
	return err_set(e, -EINVAL, AT "mtu: %u is above %s %u of " POOL ", " WOULD, q->entry,
		       q->plan.mtu, owner, most, q->resource, network_key_name(NETWORK_MTU));
}

int network_mtu_allowed(const struct pool_network *network, const struct network_request *q,
			unsigned device_mtu, struct err *e)
{
	if (is_allowed(network, NETWORK_MTU) || network->plan.mtu || !device_mtu)
		return 0;
	return check_mtu(q, device_mtu, "the device's", e);
}

/* Checks the VLAN keys. QoS and protocol need a VLAN in the same request or the pool: otherwise
 * setting them would remove the VLAN that the administrator has set on the PF. */
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

/* True for the network or broadcast address of the subnet, also if given with a longer prefix. */
static bool is_special(const struct ip_prefix *ip, const struct ip_prefix *subnet)
{
	struct ip_prefix there = *ip;

	there.len = subnet->len;
	return ip->family == AF_INET && subnet->len < 31 &&
	       (ip_rest_is(&there, false) || ip_rest_is(&there, true));
}

static bool networks_is_gateway(const struct pool_network *network, const struct ip_prefix *ip)
{
	return any_of(network->plan.n_routes, i,
		      ip_same_address(&network->plan.routes[i].gateway, ip));
}

/* Returns why a pod must not use the address; NULL: it may. */
static const char *subnet_wrong(const struct pool_network *network, const struct ip_prefix *ip)
{
	bool wide = false;

	if (networks_is_gateway(network, ip))
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
