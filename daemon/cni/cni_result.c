// SPDX-License-Identifier: Apache-2.0
/* cni_result.c - makes the result of an ADD. jansson's setters fail if passed NULL, so if memory
 * runs out for one value, the whole result fails. */
#include "cni_result.h"

#include <jansson.h>

#include "network_text.h"

#define RESULT_VERSION "1.1.0"

static json_t *result_push(json_t *array, json_t *item)
{
	if (array && json_array_append_new(array, item) == 0)
		return array;
	json_decref(array);
	return NULL;
}

/* --- the interface ---------------------------------------------------------------------------- */

static bool has_admin_mac(const struct attach_record *r)
{
	static const uint8_t none[6];

	return r->plan.no_netdev && r->origin.vf.fields & VF_MAC &&
	       memcmp(r->origin.vf.mac, none, sizeof(none)) != 0;
}

/* Formats the hardware address, 6 or 20 (IPoIB) bytes. Without a netdev, it is the requested MAC,
 * else the MAC set through the PF, else "". */
static void hardware_address(const struct attach_record *r, char *ret, size_t size)
{
	const bool admin = !r->plan.has_mac && has_admin_mac(r);
	const uint8_t *own = admin ? r->origin.vf.mac : r->origin.addr;
	const uint8_t *addr = r->plan.has_mac ? r->plan.mac : own;
	const unsigned n = r->plan.has_mac || admin ? 6 : r->origin.addr_len;
	size_t len = 0;

	ret[0] = '\0';
	for (unsigned i = 0; i < n && len + 4 < size; i++)
		len += (size_t)snprintf(ret + len, size - len, "%s%02x", i ? ":" : "", addr[i]);
}

static json_t *interface_json(const struct attach_record *r)
{
	char mac[3 * HW_ADDR_MAX + 4];
	const uint32_t mtu = r->plan.mtu ? r->plan.mtu : r->origin.mtu;
	json_t *item;

	hardware_address(r, mac, sizeof(mac));
	item = json_pack("{s:s, s:s, s:s, s:s}", "name", r->plan.ifname, "mac", mac, "sandbox",
			 r->owner.netns.path, "pciID", r->function);
	if (item && mtu && json_object_set_new(item, "mtu", json_integer(mtu)) < 0) {
		json_decref(item);
		return NULL;
	}
	return item;
}

/* --- addresses and routes --------------------------------------------------------------------- */

static bool result_is_within(const struct ip_prefix *net, const struct ip_prefix *ip)
{
	for (unsigned bit = 0; bit < net->len; bit++)
		if ((net->addr[bit / 8] ^ ip->addr[bit / 8]) & (0x80u >> bit % 8))
			return false;
	return net->family == ip->family;
}

static const struct ip_prefix *gateway_in(const struct net_route *routes, size_t n,
					  const struct ip_prefix *net)
{
	for (size_t i = 0; i < n; i++)
		if (routes[i].gateway.family != AF_UNSPEC &&
		    result_is_within(net, &routes[i].gateway))
			return &routes[i].gateway;
	return NULL;
}

/* Finds the gateway of this address in the IPAM plugin's result; false: none. */
static bool gateway_of(const json_t *ipam, const struct ip_prefix *ip, struct ip_prefix *ret)
{
	const json_t *list = json_object_get(ipam, "ips"), *item;
	struct ip_prefix address;

	for (size_t i = 0; (item = json_array_get(list, i)); i++) {
		const char *text = json_string_value(json_object_get(item, "address"));
		const char *via = json_string_value(json_object_get(item, "gateway"));

		if (text && via && ip_prefix_parse(text, &address) && ip_same_address(&address, ip))
			return ip_address_parse(via, ret);
	}
	return false;
}

static json_t *address_json(const struct attach_record *r, const json_t *ipam,
			    const struct ip_prefix *ip, size_t at)
{
	const struct ip_prefix *gateway = gateway_in(r->routes, r->n_routes, ip);
	char text[IP_TEXT_SIZE], via[IP_TEXT_SIZE];
	struct ip_prefix given;
	json_t *item;

	if (gateway_of(ipam, ip, &given))
		gateway = &given;
	if (!gateway)
		gateway = gateway_in(r->plan.routes, r->plan.n_routes, ip);
	ip_prefix_text(ip, text);
	item = json_pack("{s:s, s:I}", "address", text, "interface", (json_int_t)at);
	if (!item || !gateway)
		return item;
	ip_address_text(gateway, via);
	if (json_object_set_new(item, "gateway", json_string(via)) == 0)
		return item;
	json_decref(item);
	return NULL;
}

static json_t *push_addresses(json_t *list, const struct attach_record *r, const json_t *ipam,
			      size_t at)
{
	for (size_t i = 0; i < r->plan.n_ips; i++)
		list = result_push(list, address_json(r, NULL, &r->plan.ips[i], at));
	for (size_t i = 0; i < r->n_ips; i++)
		list = result_push(list, address_json(r, ipam, &r->ips[i], at));
	return list;
}

static json_t *result_route(const struct net_route *route)
{
	char dst[IP_TEXT_SIZE], via[IP_TEXT_SIZE];
	json_t *item;

	ip_prefix_text(&route->dst, dst);
	ip_address_text(&route->gateway, via);
	item = json_pack("{s:s}", "dst", dst);
	if (item && via[0] && json_object_set_new(item, "gw", json_string(via)) < 0)
		goto no_memory;
	if (item && route->priority &&
	    json_object_set_new(item, "priority", json_integer(route->priority)) < 0)
		goto no_memory;
	return item;
no_memory:
	json_decref(item);
	return NULL;
}

static json_t *push_routes(json_t *list, const struct net_route *routes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		list = result_push(list, result_route(&routes[i]));
	return list;
}

/* --- all of it -------------------------------------------------------------------------------- */

static json_t *list_of(const json_t *prev, const char *key)
{
	const json_t *list = json_object_get(prev, key);

	return json_is_array(list) ? json_copy((json_t *)list) : json_array();
}

static json_t *result_dns(const struct cni_request *r, const json_t *ipam, const json_t *prev)
{
	json_t *own = json_object_get(r->config, "dns"), *plugin = json_object_get(ipam, "dns");

	if (json_object_size(own))
		return own;
	return json_object_size(plugin) ? plugin : json_object_get(prev, "dns");
}

json_t *cni_result(const struct attach_record *record, const json_t *ipam,
		   const struct cni_request *r)
{
	const json_t *prev = json_object_get(r->config, "prevResult");
	json_t *interfaces = list_of(prev, "interfaces"), *ips = list_of(prev, "ips");
	json_t *routes = list_of(prev, "routes"), *dns = result_dns(r, ipam, prev);
	const size_t at = json_array_size(interfaces);

	interfaces = result_push(interfaces, interface_json(record));
	ips = push_addresses(ips, record, ipam, at);
	routes = push_routes(routes, record->plan.routes, record->plan.n_routes);
	routes = push_routes(routes, record->routes, record->n_routes);
	return json_pack("{s:s, s:o, s:o, s:o, s:O*}", "cniVersion", RESULT_VERSION, "interfaces",
			 interfaces, "ips", ips, "routes", routes, "dns", dns);
}

json_t *cni_result_passed_on(const struct cni_request *r)
{
	json_t *result = json_copy(json_object_get(r->config, "prevResult"));

	if (json_object_set_new(result, "cniVersion", json_string(RESULT_VERSION)) == 0)
		return result;
	json_decref(result);
	return NULL;
}
