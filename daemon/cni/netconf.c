// SPDX-License-Identifier: Apache-2.0
#include "netconf.h"

#include <ctype.h>
#include <jansson.h>
#include <strings.h>

#include "cleanup.h"
#include "ipam.h"
#include "network_keys.h"

/* --- the keys in our spelling ------------------------------------------------------------------
 */

/* Spellings of sriov-cni that differ from ours by more than case. */
static const struct {
	const char *theirs, *ours;
} netconf_spellings[] = {
	{"link_state", "linkState"},
	{"min_tx_rate", "minTxRate"},
	{"max_tx_rate", "maxTxRate"},
};

static const char *our_key(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(netconf_spellings); i++)
		if (strcmp(key, netconf_spellings[i].theirs) == 0)
			return netconf_spellings[i].ours;
	for (unsigned k = NETWORK_OF_LINK(0); k <= NETWORK_GUID; k++)
		if (k != NETWORK_INTERFACE && k != NETWORK_IPAM &&
		    strcasecmp(key, network_key_name((enum network_key)k)) == 0)
			return network_key_name((enum network_key)k);
	return NULL;
}

static bool is_nothing(const json_t *value)
{
	const char *text = json_string_value(value);

	return !value || json_is_null(value) || (text && text[0] == '\0');
}

/* Converts to lower case: sriov-cni accepts vlanProto in any case, pools only in lower case. */
static json_t *lower(const json_t *value)
{
	char text[16];
	size_t n = 0;

	for (const char *s = json_string_value(value); n < sizeof(text) - 1 && s[n]; n++)
		text[n] = (char)tolower((unsigned char)s[n]);
	text[n] = '\0';
	return json_string(text);
}

static int put(json_t *plan, const char *key, const json_t *value)
{
	if (strcmp(key, "vlanProto") == 0 && json_is_string(value))
		return json_object_set_new(plan, key, lower(value));
	return json_object_set(plan, key, (json_t *)value);
}

static int netconf_put_settings(json_t *plan, const json_t *config)
{
	const char *name;
	json_t *value;

	json_object_foreach ((json_t *)config, name, value) {
		const char *key = is_nothing(value) ? NULL : our_key(name);

		if (key && put(plan, key, value) < 0)
			return -ENOMEM;
	}
	return 0;
}

static const json_t *netconf_at(const json_t *config, const char *a, const char *b)
{
	return json_object_get(json_object_get(config, a), b);
}

/* Adds MAC and GUID. A later entry of the table overrides an earlier one. */
static int put_identity(json_t *plan, const struct cni_request *r)
{
	const struct {
		const char *key, *text;
	} given[] = {
		{"mac", r->mac},
		{"mac",
		 json_string_value(netconf_at(json_object_get(r->config, "args"), "cni", "mac"))},
		{"mac", json_string_value(netconf_at(r->config, "runtimeConfig", "mac"))},
		{"guid", r->guid},
		{"guid",
		 json_string_value(netconf_at(json_object_get(r->config, "args"), "cni", "guid"))},
		{"guid",
		 json_string_value(netconf_at(r->config, "runtimeConfig", "infinibandGUID"))},
	};

	for (size_t i = 0; i < ARRAY_SIZE(given); i++)
		if (given[i].text && given[i].text[0] &&
		    json_object_set_new(plan, given[i].key, json_string(given[i].text)) < 0)
			return -ENOMEM;
	return 0;
}

/* --- keys that runtimes add ------------------------------------------------------------------- */

#define MEGABIT 1000000

/* Adds the rate limit. Rates in the configuration are in bit/s; the kernel's are in Mbit/s, 0 = no
 * limit. */
static int put_bandwidth(json_t *plan, const struct cni_request *r, struct cni_error *e)
{
	const json_t *bandwidth = netconf_at(r->config, "runtimeConfig", "bandwidth");
	json_int_t in = json_integer_value(json_object_get(bandwidth, "ingressRate"));
	json_int_t out = json_integer_value(json_object_get(bandwidth, "egressRate"));

	if (in > 0)
		return cni_fail(e, CNI_UNSUPPORTED_FIELD,
				"runtimeConfig.bandwidth.ingressRate: a VF cannot limit what it "
				"receives");
	if (out < 0 || out / MEGABIT > UINT32_MAX)
		return cni_fail(e, CNI_BAD_CONFIG,
				"runtimeConfig.bandwidth.egressRate: %lld is not a valid rate",
				(long long)out);
	if (out == 0)
		return 0;
	out = out < MEGABIT ? 1 : out / MEGABIT;
	return json_object_set_new(plan, "maxTxRate", json_integer(out));
}

/* Makes an object with the members a and b of another one, if it has them; NULL: it has neither. */
static json_t *netconf_some_of(const json_t *object, const char *a, const char *b)
{
	json_t *some = json_pack("{s:O*, s:O*}", a, json_object_get(object, a), b,
				 json_object_get(object, b));

	if (json_object_size(some))
		return some;
	json_decref(some);
	return NULL;
}

/* Formats "IP=..;GATEWAY=..", "" = neither. */
static void netconf_ipam_env(const struct cni_request *r, char *ret, size_t size)
{
	snprintf(ret, size, "%s%s%s%s%s", r->ip[0] ? "IP=" : "", r->ip,
		 r->ip[0] && r->gateway[0] ? ";" : "", r->gateway[0] ? "GATEWAY=" : "", r->gateway);
}

/* Adds the parts of the request that the plugin gets outside its "ipam" object, as IPAM_CARRIED. A
 * member with that name in the configuration is dropped, because it would change the plugin's
 * environment. */
static int netconf_carry(json_t *ipam, const struct cni_request *r)
{
	const json_t *args = json_object_get(r->config, "args");
	json_t *cni = netconf_some_of(json_object_get(args, "cni"), "ips", "ips");
	json_auto_t *carried = json_pack(
		"{s:o*, s:o*}", "runtimeConfig",
		netconf_some_of(json_object_get(r->config, "runtimeConfig"), "ips", "ipRanges"),
		"args", cni ? json_pack("{s:o}", "cni", cni) : NULL);
	char env[sizeof(r->ip) + sizeof(r->gateway) + 16];
	int error = carried ? 0 : -ENOMEM;

	json_object_del(ipam, IPAM_CARRIED);
	netconf_ipam_env(r, env, sizeof(env));
	if (error == 0 && env[0])
		error = json_object_set_new(carried, "env", json_string(env));
	if (error == 0 && json_object_size(carried))
		error = json_object_set(ipam, IPAM_CARRIED, carried);
	return error;
}

static int put_addresses(json_t *plan, const struct cni_request *r, struct cni_error *e)
{
	json_t *ipam = json_object_get(r->config, "ipam"), *copy;
	const json_t *ips = netconf_at(r->config, "runtimeConfig", "ips");

	/* "needs" widens the plugin's sandbox, but any user may write a network configuration. */
	if (json_object_get(ipam, "needs"))
		return cni_fail(
			e, CNI_BAD_CONFIG,
			"ipam.needs: only the administrator grants this, by cni-ipam-needs");
	if (json_object_size(ipam) == 0)
		return json_array_size(ips) ? json_object_set(plan, "ips", (json_t *)ips) : 0;
	copy = json_copy(ipam);
	if (netconf_carry(copy, r) < 0 ||
	    (r->ipam_needs && json_object_set(copy, "needs", r->ipam_needs) < 0)) {
		json_decref(copy);
		return -ENOMEM;
	}
	return json_object_set_new(plan, "ipam", copy);
}

/* --- the plan --------------------------------------------------------------------------------- */

static json_t *netconf_in_our_keys(const struct cni_request *r, struct cni_error *e)
{
	json_t *plan = json_object();
	int error = netconf_put_settings(plan, r->config);

	if (error == 0)
		error = put_identity(plan, r);
	if (error == 0)
		error = put_addresses(plan, r, e);
	if (error == 0)
		error = put_bandwidth(plan, r, e);
	if (error == 0)
		return plan;
	json_decref(plan);
	if (!e->code)
		cni_fail(e, CNI_TRY_LATER, "out of memory");
	return NULL;
}

static int netconf_fail(struct cni_error *e, const struct err *err)
{
	return cni_fail(e, err->code == -ENOMEM ? CNI_TRY_LATER : CNI_BAD_CONFIG, "%s", err->msg);
}

static int read_soft_roce(const struct cni_request *r, struct net_plan *plan, struct cni_error *e)
{
	const json_t *value = json_object_get(r->config, "softRoce");

	if (value && !json_is_null(value) && !json_is_boolean(value))
		return cni_fail(e, CNI_BAD_CONFIG, "softRoce: is neither true nor false");
	plan->soft_roce = json_is_true(value);
	return 0;
}

static int read_plan(const struct cni_request *r, const json_t *object, struct net_plan *ret,
		     struct cni_error *e)
{
	struct network_values values = {0};
	struct err err = {0};
	struct parse p = {.file = "the network configuration", .strict = true, .err = &err};
	struct net_plan *plan = &values.request.plan;
	const char *wrong, *key = NULL;

	if (network_keys_of_admin_request(&p, NULL, object, &values) < 0)
		return netconf_fail(e, &err);
	memcpy(plan->ifname, r->ifname, sizeof(plan->ifname));
	wrong = network_wrong(plan, &key);
	if (wrong)
		return cni_fail(e, CNI_BAD_CONFIG, "the network configuration: %s: %s", key, wrong);
	*ret = *plan;
	return read_soft_roce(r, ret, e);
}

/* --- the device ------------------------------------------------------------------------------- */

static int read_device(const struct cni_request *r, struct netconf *ret, struct cni_error *e)
{
	const struct {
		const char *key;
		const json_t *value;
		enum netconf_by by;
	} ways[] = {
		{"deviceID", json_object_get(r->config, "deviceID"), NETCONF_BY_NAME},
		{"pciBusID", json_object_get(r->config, "pciBusID"), NETCONF_BY_NAME},
		{"runtimeConfig.deviceID", netconf_at(r->config, "runtimeConfig", "deviceID"),
		 NETCONF_BY_NAME},
		{"device", json_object_get(r->config, "device"), NETCONF_BY_NAME},
		{"hwaddr", json_object_get(r->config, "hwaddr"), NETCONF_BY_ADDRESS},
		{"kernelpath", json_object_get(r->config, "kernelpath"), NETCONF_BY_PATH},
	};

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		const char *text = json_string_value(ways[i].value);

		if (is_nothing(ways[i].value))
			continue;
		if (!text || strlen(text) >= sizeof(ret->device))
			return cni_fail(e, CNI_BAD_CONFIG, "%s: is not a device name", ways[i].key);
		strcpy(ret->device, text);
		ret->by = ways[i].by;
		return 0;
	}
	return 0;
}

static int read_isolation(const struct cni_request *r, struct netconf *ret, struct cni_error *e)
{
	const json_t *value = json_object_get(r->config, "rdmaIsolation");

	if (value && !json_is_null(value) && !json_is_boolean(value))
		return cni_fail(e, CNI_BAD_CONFIG, "rdmaIsolation: is neither true nor false");
	ret->rdma_isolation = ret->only_rdma || json_is_true(value);
	return 0;
}

int netconf_read(struct netconf *ret, const struct cni_request *r, struct cni_error *e)
{
	const char *type = json_string_value(json_object_get(r->config, "type"));
	struct netconf n = {.only_rdma = type && strcmp(type, "rdma") == 0};
	json_t *object;
	int error = 0;

	if (!n.only_rdma) {
		object = netconf_in_our_keys(r, e);
		error = object ? read_plan(r, object, &n.plan, e) : -EINVAL;
		json_decref(object);
	}
	if (error == 0)
		error = read_isolation(r, &n, e);
	if (error == 0)
		error = read_device(r, &n, e);
	if (error == 0)
		*ret = n;
	return error;
}

const char *netconf_ipam_type(const struct cni_request *r)
{
	const char *type = json_string_value(netconf_at(r->config, "ipam", "type"));

	return type ? type : "";
}
