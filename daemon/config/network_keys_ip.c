/* network_keys_ip.c - the keys that give an interface its addresses and routes. Pure. */
#include "network_keys.h"

#include "cleanup.h"
#include "ipam_needs.h"
#include "network_text.h"

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
		return "is no address of one host";
	if (!v4 && memcmp(p->addr, mapped, sizeof(mapped)) == 0)
		return "is an IPv4 address in IPv6's clothes";
	if (v4 ? p->addr[0] == 127 : ip_same_address(p, &loopback6))
		return "is a loopback address";
	return NULL;
}

/* An IPv4 network of two addresses (RFC 3021) or one has neither of the special ones. */
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

static int add_ip(struct parse *p, const struct json_place *at, const json_t *value,
		  struct net_plan *plan)
{
	const char *text = json_string_value(value), *wrong;
	struct ip_prefix ip;

	if (!text)
		return parse_fail(p, at, "is not a string");
	if (!ip_prefix_parse(text, &ip))
		return parse_fail(p, at, "'%.60s' is no address with a length like 10.9.0.1/24",
				  text);
	wrong = host_wrong(&ip);
	if (wrong)
		return parse_fail(p, at, "%s %s", text, wrong);
	for (size_t i = 0; i < plan->n_ips; i++)
		if (ip_same_address(&ip, &plan->ips[i]))
			return parse_fail(p, at, "%s stands here twice", text);
	if (plan->n_ips == PLAN_IPS_MAX)
		return parse_fail(p, at, "is one more than %d addresses", PLAN_IPS_MAX);
	plan->ips[plan->n_ips++] = ip;
	return 0;
}

int network_read_ips(struct parse *p, const struct json_place *at, const json_t *list, void *field)
{
	const json_t *item;
	size_t i;

	if (!json_is_array(list))
		return parse_fail(p, at, "is not a list");
	json_array_foreach (list, i, item) {
		struct json_place here = {at, NULL, i};
		int r = add_ip(p, &here, item, field);

		if (r < 0)
			return r;
	}
	return 0;
}

/* --- networks and routes
 * ----------------------------------------------------------------------------------- */

static int read_network(struct parse *p, const struct json_place *at, const json_t *value,
			void *field)
{
	const char *text = json_string_value(value);
	struct ip_prefix dst;

	if (!text)
		return parse_fail(p, at, "is not a string");
	if (!ip_prefix_parse(text, &dst))
		return parse_fail(p, at, "'%.60s' is no network like 10.0.0.0/8", text);
	if (!ip_rest_is(&dst, false))
		return parse_fail(p, at, "%s has bits behind its length", text);
	*(struct ip_prefix *)field = dst;
	return 0;
}

int network_read_subnets(struct parse *p, const struct json_place *at, const json_t *list,
			 void *target)
{
	struct network_values *values = target;
	const json_t *item;
	size_t i;

	if (!json_is_array(list))
		return parse_fail(p, at, "is not a list");
	if (json_array_size(list) > POOL_SUBNETS_MAX)
		return parse_fail(p, at, "has %zu subnets, more than %d", json_array_size(list),
				  POOL_SUBNETS_MAX);
	json_array_foreach (list, i, item) {
		struct json_place here = {at, NULL, i};
		int r = read_network(p, &here, item, &values->subnets[values->n_subnets]);

		if (r < 0)
			return r;
		values->n_subnets++;
	}
	return 0;
}

static int read_gw(struct parse *p, const struct json_place *at, const json_t *value, void *field)
{
	const char *text = json_string_value(value), *wrong;
	struct ip_prefix gw;

	if (!text)
		return parse_fail(p, at, "is not a string");
	if (!ip_address_parse(text, &gw))
		return parse_fail(p, at, "'%.60s' is no address like 10.9.0.254", text);
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

static int read_route(struct parse *p, const struct json_place *at, const json_t *item,
		      struct net_plan *plan)
{
	static const struct parse_key keys[] = {
		PARSE_KEY("dst", read_network, struct net_route, dst),
		PARSE_KEY("gw", read_gw, struct net_route, gateway),
		PARSE_KEY("priority", read_priority, struct net_route, priority),
	};
	struct net_route route = {0};
	int r = parse_object(p, at, item, keys, ARRAY_SIZE(keys), &route);

	if (r == 0 && route.dst.family == AF_UNSPEC)
		r = parse_fail(p, at, "\"dst\" is missing");
	return r < 0 ? r : add_route(p, at, plan, &route);
}

int network_read_routes(struct parse *p, const struct json_place *at, const json_t *list,
			void *field)
{
	const json_t *item;
	size_t i;

	if (!json_is_array(list))
		return parse_fail(p, at, "is not a list");
	json_array_foreach (list, i, item) {
		struct json_place here = {at, NULL, i};
		int r = read_route(p, &here, item, field);

		if (r < 0)
			return r;
	}
	return 0;
}

/* The default route of the gateway's family. */
static int add_gateway(struct parse *p, const struct json_place *at, const json_t *value,
		       struct net_plan *plan)
{
	struct net_route route = {0};
	int r = read_gw(p, at, value, &route.gateway);

	route.dst.family = route.gateway.family;
	return r < 0 ? r : add_route(p, at, plan, &route);
}

int network_read_gateway(struct parse *p, const struct json_place *at, const json_t *value,
			 void *field)
{
	const json_t *item;
	size_t i;

	if (!json_is_array(value))
		return add_gateway(p, at, value, field);
	json_array_foreach (value, i, item) {
		struct json_place here = {at, NULL, i};
		int r = add_gateway(p, &here, item, field);

		if (r < 0)
			return r;
	}
	return 0;
}

/* What a plugin is told beyond that is the plugin's business. */
int network_read_ipam(struct parse *p, const struct json_place *at, const json_t *value,
		      void *field)
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
	return 0;
}
