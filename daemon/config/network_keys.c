// SPDX-License-Identifier: Apache-2.0
/* network_keys.c - reads the keys of a network, with one function per key. */
#include "network_keys.h"

#include <linux/if_ether.h>
#include <strings.h>

#include "cleanup.h"
#include "config_schema.h"
#include "ipam_needs.h"
#include "member.h"
#include "network_text.h"

/* The kubelet gives up after 30 s (KubeletPreStartContainerRPCTimeoutInSecs in
 * k8s.io/kubernetes/staging/src/k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1/constants.go); our
 * error must be returned before. */
#define TIMEOUT_MIN_MS 1000
#define TIMEOUT_MAX_MS 28000

static const struct parse_key keys[N_NETWORK_KEYS];

const char *const drift_words[2] = {"report", "repair"};

/* --- pools only ------------------------------------------------------------------------------- */

static int read_drift(struct parse *p, const struct json_place *at, const json_t *value,
		      void *field)
{
	unsigned word;
	int r = parse_choice(p, at, value, drift_words, ARRAY_SIZE(drift_words), &word);

	if (r == 0)
		*(enum drift_policy *)field = word ? DRIFT_REPAIR : DRIFT_REPORT;
	return r;
}

static int read_timeout(struct parse *p, const struct json_place *at, const json_t *value,
			void *field)
{
	return parse_count(p, at, value, TIMEOUT_MIN_MS, TIMEOUT_MAX_MS, field);
}

static unsigned allowable(const char *word)
{
	for (unsigned key = 0; key < N_NETWORK_KEYS; key++)
		if ((NETWORK_ALLOWABLE & NETWORK_BIT(key)) &&
		    strcasecmp(word, network_key_name((enum network_key)key)) == 0)
			return NETWORK_BIT(key);
	return 0;
}

static int reject_word(struct parse *p, const struct json_place *at, const char *word)
{
	char known[256] = "";
	size_t n = 0;

	if (strcasecmp(word, network_key_name(NETWORK_IPAM)) == 0)
		return parse_fail(
			p, at,
			"ipam is only allowed in a pool, because its plugins run on the host");
	for (unsigned key = 0; key < N_NETWORK_KEYS; key++)
		if (NETWORK_ALLOWABLE & NETWORK_BIT(key))
			n += (size_t)snprintf(known + n, sizeof(known) - n, "%s%s", n ? ", " : "",
					      network_key_name((enum network_key)key));
	return parse_fail(p, at, "'%.40s' is none of %s", word, known);
}

static int network_add_allowed(struct parse *p, const struct json_place *at, const json_t *value,
			       void *field)
{
	const char *word = json_string_value(value);

	if (!word)
		return parse_fail(p, at, "is not a string");
	if (!allowable(word))
		return reject_word(p, at, word);
	*(unsigned *)field |= allowable(word);
	return 0;
}

static int read_allow(struct parse *p, const struct json_place *at, const json_t *list, void *field)
{
	return parse_each(p, at, list, "a list", network_add_allowed, field);
}

/* --- the link and its VF ---------------------------------------------------------------------- */

static int network_read_link(struct parse *p, const struct json_place *at, const json_t *value,
			     void *field)
{
	const struct link_field_row *row = &link_fields[p->key - &keys[NETWORK_OF_LINK(0)]];

	return parse_count(p, at, value, row->least, row->most, field);
}

/* Reads one of the words. A switch is "on" or "off" as in ip(8), or JSON's true or false. */
static int network_read_word(struct parse *p, const struct json_place *at, const json_t *value,
			     const struct vf_words *words, uint32_t *ret)
{
	unsigned word = 0;
	int r = 0;

	if (words == &vf_switch && json_is_boolean(value))
		word = json_is_true(value);
	else if (words == &vf_switch && !json_is_string(value))
		r = parse_fail(p, at, "is neither \"on\" nor \"off\"");
	else
		r = parse_choice(p, at, value, words->words, words->n, &word);
	*ret = words->values[word];
	return r;
}

static int read_vf(struct parse *p, const struct json_place *at, const json_t *value, void *field)
{
	const struct vf_key_row *row = &vf_keys[p->key - &keys[NETWORK_OF_VF(0)]];
	struct vf_settings *vf = field;
	uint32_t n;
	int r = row->words ? network_read_word(p, at, value, row->words, &n)
			   : parse_count(p, at, value, 0, row->most, &n);

	if (r < 0)
		return r;
	member_store((char *)vf + row->at, row->size, n);
	vf->fields |= row->bit;
	/* The kernel sets VLAN id, QoS and protocol together, so the protocol needs a value. */
	if (row->bit == VF_VLAN && vf->vlan_proto == 0)
		vf->vlan_proto = ETH_P_8021Q;
	return 0;
}

static int read_mac(struct parse *p, const struct json_place *at, const json_t *value, void *field)
{
	static const uint8_t zero[6];
	struct net_plan *plan = field;
	const char *text = json_string_value(value);
	uint8_t mac[6];

	if (!text)
		return parse_fail(p, at, "is not a string");
	if (!hex_bytes_parse(text, mac, sizeof(mac)))
		return parse_fail(p, at, "'%.40s' is not a MAC address like 02:00:00:00:00:01",
				  text);
	if (mac[0] & 1)
		return parse_fail(p, at, "%s is a multicast address", text);
	if (memcmp(mac, zero, sizeof(mac)) == 0)
		return parse_fail(p, at, "is zero");
	plan->has_mac = true;
	memcpy(plan->mac, mac, sizeof(mac));
	plan->vf.fields |= VF_MAC;
	memcpy(plan->vf.mac, mac, sizeof(mac));
	return 0;
}

/* Reads a GUID. Node and port have the same one, as set by other tools for InfiniBand VFs. */
static int read_guid(struct parse *p, const struct json_place *at, const json_t *value, void *field)
{
	struct vf_settings *vf = field;
	const char *text = json_string_value(value);
	uint8_t raw[8];
	uint64_t guid = 0;

	if (!text)
		return parse_fail(p, at, "is not a string");
	if (!hex_bytes_parse(text, raw, sizeof(raw)))
		return parse_fail(p, at, "'%.40s' is not a GUID like 02:00:00:00:00:00:00:01",
				  text);
	for (size_t i = 0; i < sizeof(raw); i++)
		guid = guid << 8 | raw[i];
	if (guid == 0 || guid == UINT64_MAX)
		return parse_fail(p, at, "%s is an invalid GUID", text);
	vf->fields |= VF_NODE_GUID | VF_PORT_GUID;
	vf->node_guid = vf->port_guid = guid;
	return 0;
}

/* --- names ------------------------------------------------------------------------------------ */

static int network_read_resource(struct parse *p, const struct json_place *at, const json_t *value,
				 void *field)
{
	const char *text = json_string_value(value);

	if (!text)
		return parse_fail(p, at, "is not a string");
	if (strlen(text) >= RESOURCE_NAME_SIZE || !strchr(text, '/'))
		return parse_fail(p, at, "'%.60s' is not a resource like rocelet.dev/roce", text);
	strcpy(field, text);
	return 0;
}

static int network_read_interface(struct parse *p, const struct json_place *at, const json_t *value,
				  void *field)
{
	const char *text = json_string_value(value), *wrong;

	if (!text)
		return parse_fail(p, at, "is not a string");
	wrong = ifname_wrong(text);
	if (wrong)
		return parse_fail(p, at, "'%.40s' %s", text, wrong);
	strcpy(field, text);
	return 0;
}

/* --- addresses -------------------------------------------------------------------------------- */

static const char *address_wrong(const struct ip_prefix *p)
{
	static const struct ip_prefix loopback6 = {.family = AF_INET6, .addr = {[15] = 1}};
	/* ::ffff:0:0/96, RFC 4291, section 2.5.5.2. */
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	struct ip_prefix all = *p;
	bool v4 = p->family == AF_INET;

	all.len = 0;
	if (ip_rest_is(&all, false))
		return "is the unspecified address";
	if (v4 ? p->addr[0] >= 224 : p->addr[0] == 0xff)
		return "is not the address of one host";
	if (!v4 && memcmp(p->addr, mapped, sizeof(mapped)) == 0)
		return "is an IPv4 address mapped to IPv6";
	if (v4 ? p->addr[0] == 127 : ip_same_address(p, &loopback6))
		return "is a loopback address";
	return NULL;
}

/* Returns why this cannot be the address of an interface; NULL: it can. An IPv4 network with one or
 * two addresses (RFC 3021) has no network and broadcast address. */
static const char *host_wrong(const struct ip_prefix *p)
{
	const char *wrong = address_wrong(p);

	if (wrong)
		return wrong;
	if (p->len == 0)
		return "has no network";
	if (p->family == AF_INET && p->len < 31 && ip_rest_is(p, false))
		return "names the network, not an address in it";
	if (p->family == AF_INET && p->len < 31 && ip_rest_is(p, true))
		return "is the network's broadcast address";
	return NULL;
}

static int network_add_ip(struct parse *p, const struct json_place *at, const json_t *value,
			  void *field)
{
	const char *text = json_string_value(value), *wrong;
	struct net_plan *plan = field;
	struct ip_prefix ip;

	if (!text)
		return parse_fail(p, at, "is not a string");
	if (!ip_prefix_parse(text, &ip))
		return parse_fail(p, at, "'%.60s' is not an address with a length like 10.9.0.1/24",
				  text);
	wrong = host_wrong(&ip);
	if (wrong)
		return parse_fail(p, at, "%s %s", text, wrong);
	for (size_t i = 0; i < plan->n_ips; i++)
		if (ip_same_address(&ip, &plan->ips[i]))
			return parse_fail(p, at, "%s appears twice", text);
	if (plan->n_ips == PLAN_IPS_MAX)
		return parse_fail(p, at, "is one more than %d addresses", PLAN_IPS_MAX);
	plan->ips[plan->n_ips++] = ip;
	return 0;
}

static int network_read_ips(struct parse *p, const struct json_place *at, const json_t *list,
			    void *field)
{
	return parse_each(p, at, list, "a list", network_add_ip, field);
}

/* --- networks and routes ---------------------------------------------------------------------- */

static int network_read_network(struct parse *p, const struct json_place *at, const json_t *value,
				void *field)
{
	const char *text = json_string_value(value);
	struct ip_prefix dst;

	if (!text)
		return parse_fail(p, at, "is not a string");
	if (!ip_prefix_parse(text, &dst))
		return parse_fail(p, at, "'%.60s' is not a network like 10.0.0.0/8", text);
	if (!ip_rest_is(&dst, false))
		return parse_fail(p, at, "%s has bits beyond its prefix length", text);
	*(struct ip_prefix *)field = dst;
	return 0;
}

static int add_subnet(struct parse *p, const struct json_place *at, const json_t *value,
		      void *field)
{
	struct network_values *values = field;
	int r = network_read_network(p, at, value, &values->subnets[values->n_subnets]);

	values->n_subnets += r == 0;
	return r;
}

static int read_subnets(struct parse *p, const struct json_place *at, const json_t *list,
			void *target)
{
	if (json_array_size(list) > POOL_SUBNETS_MAX)
		return parse_fail(p, at, "has %zu subnets, more than %d", json_array_size(list),
				  POOL_SUBNETS_MAX);
	return parse_each(p, at, list, "a list", add_subnet, target);
}

static int read_gw(struct parse *p, const struct json_place *at, const json_t *value, void *field)
{
	const char *text = json_string_value(value), *wrong;
	struct ip_prefix gw;

	if (!text)
		return parse_fail(p, at, "is not a string");
	if (!ip_address_parse(text, &gw))
		return parse_fail(p, at, "'%.60s' is not an address like 10.9.0.254", text);
	wrong = address_wrong(&gw);
	if (wrong)
		return parse_fail(p, at, "%s %s", text, wrong);
	*(struct ip_prefix *)field = gw;
	return 0;
}

static int read_priority(struct parse *p, const struct json_place *at, const json_t *value,
			 void *field)
{
	return parse_count(p, at, value, 0, UINT32_MAX, field);
}

static bool same_route(const struct net_route *a, const struct net_route *b)
{
	return ip_same_address(&a->dst, &b->dst) && a->dst.len == b->dst.len &&
	       a->priority == b->priority;
}

static int add_route(struct parse *p, const struct json_place *at, struct net_plan *plan,
		     const struct net_route *route)
{
	char dst[IP_TEXT_SIZE];

	ip_prefix_text(&route->dst, dst);
	if (route->gateway.family != AF_UNSPEC && route->gateway.family != route->dst.family)
		return parse_fail(p, at, "the gateway to %s is not of its family", dst);
	for (size_t i = 0; i < plan->n_routes; i++)
		if (same_route(route, &plan->routes[i]))
			return parse_fail(p, at, "there is another route to %s", dst);
	if (plan->n_routes == PLAN_ROUTES_MAX)
		return parse_fail(p, at, "is one more than %d routes", PLAN_ROUTES_MAX);
	plan->routes[plan->n_routes++] = *route;
	return 0;
}

static int network_read_route(struct parse *p, const struct json_place *at, const json_t *item,
			      void *plan)
{
	static const struct parse_key route_keys[] = {
		PARSE_KEY("dst", network_read_network, struct net_route, dst),
		PARSE_KEY("gw", read_gw, struct net_route, gateway),
		PARSE_KEY("priority", read_priority, struct net_route, priority),
	};
	struct net_route route = {0};
	int r = parse_object(p, at, item, route_keys, ARRAY_SIZE(route_keys), &route);

	if (r == 0 && route.dst.family == AF_UNSPEC)
		r = parse_fail(p, at, "\"dst\" is missing");
	return r < 0 ? r : add_route(p, at, plan, &route);
}

static int network_read_routes(struct parse *p, const struct json_place *at, const json_t *list,
			       void *field)
{
	return parse_each(p, at, list, "a list", network_read_route, field);
}

/* Adds the default route of the gateway's family. */
static int add_gateway(struct parse *p, const struct json_place *at, const json_t *value,
		       void *plan)
{
	struct net_route route = {0};
	int r = read_gw(p, at, value, &route.gateway);

	route.dst.family = route.gateway.family;
	return r < 0 ? r : add_route(p, at, plan, &route);
}

static int read_gateway(struct parse *p, const struct json_place *at, const json_t *value,
			void *field)
{
	return json_is_array(value) ? parse_each(p, at, value, "a list", add_gateway, field)
				    : add_gateway(p, at, value, field);
}

/* Checks that the plugin is installed, if the options request that; only for this node's own file,
 * because other groups' nodes may have other plugins, and annotations and admin requests have no
 * options. Without --strict it is a warning, because the plugin may be installed later. */
static int network_check_plugin(struct parse *p, const struct json_place *at, const char *type)
{
	const struct options *o = p->options;
	struct json_place here = {at, "type", 0};

	if (!o || !o->finds_plugins || !p->text || p->group_only ||
	    ipam_plugin_exists(o->cni_path, type))
		return 0;
	if (o->strict)
		return parse_fail(p, &here, "no IPAM plugin \"%s\" in %s (--cni-path)", type,
				  o->cni_path);
	parse_warn(
		p, &here,
		"no IPAM plugin \"%s\" in %s (--cni-path), no pod gets a device of the pool until "
		"there is one",
		type, o->cni_path);
	return 0;
}

/* Warns about missing needs. It is no error, because a plugin may have the name of a known one and
 * other needs. */
static void network_check_needs(struct parse *p, const struct json_place *at,
				const struct ipam_needs *needs)
{
	const char *missing = p->text ? ipam_needs_missing(needs) : NULL;

	if (missing)
		parse_warn(p, at,
			   "%s works only with \"needs\": {%s}, no pod gets a device of the pool "
			   "without it",
			   needs->type, missing);
}

/* Reads "ipam". The plugin itself checks its other keys. */
static int read_ipam(struct parse *p, const struct json_place *at, const json_t *value, void *field)
{
	struct ipam_needs needs;
	struct err wrong = {0};
	size_t n;

	if (ipam_needs_read(&needs, value, &wrong) < 0)
		return parse_fail(p, at, "%s", wrong.msg);
	n = json_dumpb(value, field, PLAN_IPAM_SIZE - 1, JSON_COMPACT);
	if (n == 0)
		return parse_no_memory(p);
	if (n >= PLAN_IPAM_SIZE)
		return parse_fail(p, at, "has %zu bytes, more than %d", n, PLAN_IPAM_SIZE - 1);
	((char *)field)[n] = '\0';
	network_check_needs(p, at, &needs);
	return network_check_plugin(p, at, needs.type);
}

/* --- the table -------------------------------------------------------------------------------- */

#define KEY(name, read, field) PARSE_KEY(name, read, struct network_values, field)
#define PLAN(field)	       request.plan.field

#define LINK_KEY(id, name, ...)	     [NETWORK_##id] = KEY(#name, network_read_link, PLAN(name))
#define VF_KEY(id, member, key, ...) [NETWORK_##id] = KEY(key, read_vf, PLAN(vf))

static const struct parse_key keys[N_NETWORK_KEYS] = {
	[NETWORK_DRIFT] = KEY("drift", read_drift, drift),
	[NETWORK_TIMEOUT] = KEY("timeoutMs", read_timeout, timeout_ms),
	[NETWORK_ALLOW] = KEY("allow", read_allow, allow),
	[NETWORK_SUBNETS] = {"subnets", read_subnets, 0},
	LINK_FIELDS(LINK_KEY),
	VF_KEYS(VF_KEY),
	[NETWORK_IPS] = KEY("ips", network_read_ips, request.plan),
	[NETWORK_ROUTES] = KEY("routes", network_read_routes, request.plan),
	[NETWORK_GATEWAY] = KEY("gateway", read_gateway, request.plan),
	[NETWORK_IPAM] = KEY("ipam", read_ipam, PLAN(ipam)),
	[NETWORK_RESOURCE] = KEY("resource", network_read_resource, request.resource),
	[NETWORK_INTERFACE] = KEY("interface", network_read_interface, PLAN(ifname)),
	[NETWORK_MAC] = KEY("mac", read_mac, request.plan),
	[NETWORK_GUID] = KEY("guid", read_guid, PLAN(vf)),
};

const char *network_key_name(enum network_key key)
{
	return keys[key].name;
}

/* Reads keys `first` to `last`; sets the bits of those present. */
static int read_keys(struct parse *p, const struct json_place *at, const json_t *object,
		     unsigned first, unsigned last, struct network_values *ret)
{
	int r = parse_object(p, at, object, &keys[first], last + 1 - first, ret);

	for (unsigned i = first; i <= last && r == 0; i++)
		if (json_find(object, keys[i].name, NULL))
			ret->request.keys |= NETWORK_BIT(i);
	return r;
}

int network_keys_of_pool(struct parse *p, const struct json_place *at, const json_t *object,
			 struct network_values *ret)
{
	return read_keys(p, at, object, NETWORK_DRIFT, NETWORK_IPAM, ret);
}

int network_keys_of_entry(struct parse *p, const struct json_place *at, const json_t *object,
			  struct network_values *ret)
{
	int r = read_keys(p, at, object, NETWORK_MTU, NETWORK_RESOURCE, ret);
	struct json_place ipam = {at, network_key_name(NETWORK_IPAM), 0};

	if (r == 0 && json_find(object, ipam.key, &ipam.key))
		r = parse_fail(p, &ipam,
			       "is only allowed in a pool, because its plugins run on the host");
	return r;
}

int network_keys_of_admin_request(struct parse *p, const struct json_place *at,
				  const json_t *object, struct network_values *ret)
{
	return read_keys(p, at, object, NETWORK_MTU, NETWORK_GUID, ret);
}

/* --- schema ----------------------------------------------------------------------------------- */

#define SCHEMA_ADDRESS "{\"type\": \"string\", \"pattern\": \"^[0-9a-fA-F.:]+$\"}"
#define SCHEMA_NETWORK "{\"type\": \"string\", \"pattern\": \"^[0-9a-fA-F.:]+/[0-9]{1,3}$\"}"
#define SCHEMA_ROUTES                                                                              \
	"{\"type\": \"array\", \"items\": {\"type\": \"object\", \"required\": [\"dst\"], "        \
	"\"additionalProperties\": false, \"properties\": {\"_comment\": true, "                   \
	"\"dst\": " SCHEMA_NETWORK ", \"gw\": " SCHEMA_ADDRESS ", "                                \
	"\"priority\": {\"type\": \"integer\", \"minimum\": 0, \"maximum\": 4294967295}}}}"

static json_t *network_link_schema(const struct parse_key *key)
{
	const struct link_field_row *row = &link_fields[key - &keys[NETWORK_OF_LINK(0)]];

	return config_schema_integer(row->least, row->most);
}

static json_t *network_vf_schema(const struct parse_key *key)
{
	const struct vf_key_row *row = &vf_keys[key - &keys[NETWORK_OF_VF(0)]];

	if (!row->words)
		return config_schema_integer(0, row->most);
	if (row->words == &vf_switch)
		return config_schema_either(config_schema_words(row->words->words, row->words->n),
					    config_schema_json(SCHEMA_BOOL));
	return config_schema_words(row->words->words, row->words->n);
}

static json_t *network_drift_schema(const struct parse_key *key)
{
	(void)key;
	return config_schema_words(drift_words, ARRAY_SIZE(drift_words));
}

static json_t *network_timeout_schema(const struct parse_key *key)
{
	(void)key;
	return config_schema_integer(TIMEOUT_MIN_MS, TIMEOUT_MAX_MS);
}

static json_t *network_allow_schema(const struct parse_key *key)
{
	const char *words[N_NETWORK_KEYS];
	size_t n = 0;

	(void)key;
	for (unsigned i = 0; i < N_NETWORK_KEYS; i++)
		if (NETWORK_ALLOWABLE & NETWORK_BIT(i))
			words[n++] = network_key_name((enum network_key)i);
	return config_schema_list(config_schema_words(words, n), 0);
}

/* The plugin may have any keys of its own. */
#define NETWORK_IPAM_SCHEMA                                                                        \
	"{\"type\": \"object\", \"required\": [\"type\"], \"properties\": {\"type\": "             \
	"{\"type\": \"string\"}, \"needs\": {\"type\": [\"object\", \"null\"], "                   \
	"\"additionalProperties\": false, \"properties\": {\"network\": "                          \
	"{\"enum\": [\"none\", \"host\", null]}, \"capabilities\": {\"type\": [\"array\", "        \
	"\"null\"]}, \"write\": {\"type\": [\"array\", \"null\"]}}}}}"

json_t *config_schema_of_network(void)
{
	static const struct config_schema_shape shapes[] = {
		{read_drift, NULL, NULL, network_drift_schema},
		{read_timeout, NULL, NULL, network_timeout_schema},
		{read_allow, NULL, NULL, network_allow_schema},
		{read_subnets, NULL, "{\"type\": \"array\", \"items\": " SCHEMA_NETWORK "}", NULL},
		{network_read_link, NULL, NULL, network_link_schema},
		{read_vf, NULL, NULL, network_vf_schema},
		{network_read_ips, NULL, "{\"type\": \"array\", \"items\": " SCHEMA_NETWORK "}",
		 NULL},
		{network_read_routes, NULL, SCHEMA_ROUTES, NULL},
		{read_gateway, NULL,
		 "{\"anyOf\": [" SCHEMA_ADDRESS ", {\"type\": \"array\", \"items\": " SCHEMA_ADDRESS
		 "}]}",
		 NULL},
		{read_ipam, NULL, NETWORK_IPAM_SCHEMA, NULL},
	};

	return config_schema_table(&keys[NETWORK_DRIFT], NETWORK_IPAM + 1 - NETWORK_DRIFT, shapes,
				   ARRAY_SIZE(shapes));
}
