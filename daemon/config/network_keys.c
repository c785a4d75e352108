/* network_keys.c - one reader for each key. */
#include "network_keys.h"

#include <linux/if_ether.h>
#include <strings.h>

#include "cleanup.h"
#include "network_text.h"

/* The kubelet gives up after 30 s (KubeletPreStartContainerRPCTimeoutInSecs in
 * k8s.io/kubernetes/staging/src/k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1/constants.go); our
 * refusal must reach it before. */
#define TIMEOUT_MIN_MS 1000
#define TIMEOUT_MAX_MS 28000
/* ETH_MIN_MTU and ETH_MAX_MTU, linux/if_ether.h. */
#define MTU_MIN	       68
#define MTU_MAX	       65535
/* 4095 is reserved (IEEE 802.1Q). */
#define VLAN_MAX       4094

const char *const drift_words[2] = {"report", "repair"};
const char *const vlan_proto_words[2] = {"802.1q", "802.1ad"};
const char *const vf_link_words[3] = {"auto", "enable", "disable"};

/* --- of pools --------------------------------------------------------------------------------- */

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

static int refuse_word(struct parse *p, const struct json_place *at, const char *word)
{
	char known[256] = "";
	size_t n = 0;

	if (strcasecmp(word, network_key_name(NETWORK_IPAM)) == 0)
		return parse_fail(p, at, "ipam is the pool's alone: its plugins run on the host");
	for (unsigned key = 0; key < N_NETWORK_KEYS; key++)
		if (NETWORK_ALLOWABLE & NETWORK_BIT(key))
			n += (size_t)snprintf(known + n, sizeof(known) - n, "%s%s", n ? ", " : "",
					      network_key_name((enum network_key)key));
	return parse_fail(p, at, "'%.40s' is none of %s", word, known);
}

static int read_allow(struct parse *p, const struct json_place *at, const json_t *list, void *field)
{
	unsigned *allow = field;
	const json_t *item;
	size_t i;

	if (!json_is_array(list))
		return parse_fail(p, at, "is not a list");
	json_array_foreach (list, i, item) {
		struct json_place here = {at, NULL, i};
		const char *word = json_string_value(item);

		if (!word)
			return parse_fail(p, &here, "is not a string");
		if (!allowable(word))
			return refuse_word(p, &here, word);
		*allow |= allowable(word);
	}
	return 0;
}

/* --- the link and its VF ---------------------------------------------------------------------- */

static int read_mtu(struct parse *p, const struct json_place *at, const json_t *value, void *field)
{
	uint32_t mtu;
	int r = parse_count(p, at, value, MTU_MIN, MTU_MAX, &mtu);

	if (r == 0)
		*(unsigned *)field = mtu;
	return r;
}

/* Id, QoS and protocol are one setting of the kernel's. */
static void has_vlan(struct vf_settings *vf)
{
	vf->fields |= VF_VLAN;
	if (vf->vlan_proto == 0)
		vf->vlan_proto = ETH_P_8021Q;
}

static int read_vlan(struct parse *p, const struct json_place *at, const json_t *value, void *field)
{
	struct vf_settings *vf = field;
	uint32_t id;
	int r = parse_count(p, at, value, 0, VLAN_MAX, &id);

	if (r < 0)
		return r;
	vf->vlan = (uint16_t)id;
	has_vlan(vf);
	return 0;
}

static int read_qos(struct parse *p, const struct json_place *at, const json_t *value, void *field)
{
	struct vf_settings *vf = field;
	uint32_t qos;
	int r = parse_count(p, at, value, 0, 7, &qos);

	if (r < 0)
		return r;
	vf->vlan_qos = (uint8_t)qos;
	has_vlan(vf);
	return 0;
}

static int read_proto(struct parse *p, const struct json_place *at, const json_t *value,
		      void *field)
{
	struct vf_settings *vf = field;
	unsigned word;
	int r = parse_choice(p, at, value, vlan_proto_words, ARRAY_SIZE(vlan_proto_words), &word);

	if (r < 0)
		return r;
	vf->vlan_proto = word ? ETH_P_8021AD : ETH_P_8021Q;
	has_vlan(vf);
	return 0;
}

/* "on" and "off" as ip(8) has them, true and false as JSON has. */
static int read_switch(struct parse *p, const struct json_place *at, const json_t *value, bool *ret)
{
	static const char *const words[] = {"off", "on"};
	unsigned word;
	int r;

	if (json_is_boolean(value)) {
		*ret = json_is_true(value);
		return 0;
	}
	if (!json_is_string(value))
		return parse_fail(p, at, "is neither \"on\" nor \"off\"");
	r = parse_choice(p, at, value, words, ARRAY_SIZE(words), &word);
	if (r == 0)
		*ret = word == 1;
	return r;
}

static int read_spoofchk(struct parse *p, const struct json_place *at, const json_t *value,
			 void *field)
{
	struct vf_settings *vf = field;

	vf->fields |= VF_SPOOFCHK;
	return read_switch(p, at, value, &vf->spoofchk);
}

static int read_trust(struct parse *p, const struct json_place *at, const json_t *value,
		      void *field)
{
	struct vf_settings *vf = field;

	vf->fields |= VF_TRUST;
	return read_switch(p, at, value, &vf->trust);
}

static int read_link_state(struct parse *p, const struct json_place *at, const json_t *value,
			   void *field)
{
	struct vf_settings *vf = field;
	unsigned word;
	int r = parse_choice(p, at, value, vf_link_words, ARRAY_SIZE(vf_link_words), &word);

	if (r < 0)
		return r;
	vf->fields |= VF_LINK_STATE;
	vf->link_state = (enum vf_link)(VF_LINK_AUTO + word);
	return 0;
}

static int read_min_rate(struct parse *p, const struct json_place *at, const json_t *value,
			 void *field)
{
	struct vf_settings *vf = field;

	vf->fields |= VF_MIN_RATE;
	return parse_count(p, at, value, 0, UINT32_MAX, &vf->min_rate);
}

static int read_max_rate(struct parse *p, const struct json_place *at, const json_t *value,
			 void *field)
{
	struct vf_settings *vf = field;

	vf->fields |= VF_MAX_RATE;
	return parse_count(p, at, value, 0, UINT32_MAX, &vf->max_rate);
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
		return parse_fail(p, at, "'%.40s' is no MAC address like 02:00:00:00:00:01", text);
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

/* Node and port have the same, as other tools for InfiniBand VFs do it. */
static int read_guid(struct parse *p, const struct json_place *at, const json_t *value, void *field)
{
	struct vf_settings *vf = field;
	const char *text = json_string_value(value);
	uint8_t raw[8];
	uint64_t guid = 0;

	if (!text)
		return parse_fail(p, at, "is not a string");
	if (!hex_bytes_parse(text, raw, sizeof(raw)))
		return parse_fail(p, at, "'%.40s' is no GUID like 02:00:00:00:00:00:00:01", text);
	for (size_t i = 0; i < sizeof(raw); i++)
		guid = guid << 8 | raw[i];
	if (guid == 0 || guid == UINT64_MAX)
		return parse_fail(p, at, "%s is nobody's GUID", text);
	vf->fields |= VF_NODE_GUID | VF_PORT_GUID;
	vf->node_guid = vf->port_guid = guid;
	return 0;
}

/* --- names ------------------------------------------------------------------------------------ */

static int read_resource(struct parse *p, const struct json_place *at, const json_t *value,
			 void *field)
{
	const char *text = json_string_value(value);

	if (!text)
		return parse_fail(p, at, "is not a string");
	if (strlen(text) >= RESOURCE_NAME_SIZE || !strchr(text, '/'))
		return parse_fail(p, at, "'%.60s' is no resource like rocelet.dev/roce", text);
	strcpy(field, text);
	return 0;
}

static int read_interface(struct parse *p, const struct json_place *at, const json_t *value,
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

/* --- the table -------------------------------------------------------------------------------- */

#define KEY(name, read, field) PARSE_KEY(name, read, struct network_values, field)
#define PLAN(field)	       request.plan.field

static const struct parse_key keys[N_NETWORK_KEYS] = {
	[NETWORK_DRIFT] = KEY("drift", read_drift, drift),
	[NETWORK_TIMEOUT] = KEY("timeoutMs", read_timeout, timeout_ms),
	[NETWORK_ALLOW] = KEY("allow", read_allow, allow),
	[NETWORK_SUBNETS] = {"subnets", network_read_subnets, 0},
	[NETWORK_MTU] = KEY("mtu", read_mtu, PLAN(mtu)),
	[NETWORK_VLAN] = KEY("vlan", read_vlan, PLAN(vf)),
	[NETWORK_VLAN_QOS] = KEY("vlanQoS", read_qos, PLAN(vf)),
	[NETWORK_VLAN_PROTO] = KEY("vlanProto", read_proto, PLAN(vf)),
	[NETWORK_SPOOFCHK] = KEY("spoofchk", read_spoofchk, PLAN(vf)),
	[NETWORK_TRUST] = KEY("trust", read_trust, PLAN(vf)),
	[NETWORK_LINK_STATE] = KEY("linkState", read_link_state, PLAN(vf)),
	[NETWORK_MIN_RATE] = KEY("minTxRate", read_min_rate, PLAN(vf)),
	[NETWORK_MAX_RATE] = KEY("maxTxRate", read_max_rate, PLAN(vf)),
	[NETWORK_IPS] = KEY("ips", network_read_ips, request.plan),
	[NETWORK_ROUTES] = KEY("routes", network_read_routes, request.plan),
	[NETWORK_GATEWAY] = KEY("gateway", network_read_gateway, request.plan),
	[NETWORK_IPAM] = KEY("ipam", network_read_ipam, PLAN(ipam)),
	[NETWORK_RESOURCE] = KEY("resource", read_resource, request.resource),
	[NETWORK_INTERFACE] = KEY("interface", read_interface, PLAN(ifname)),
	[NETWORK_MAC] = KEY("mac", read_mac, request.plan),
	[NETWORK_GUID] = KEY("guid", read_guid, PLAN(vf)),
};

const char *network_key_name(enum network_key key)
{
	return keys[key].name;
}

/* Keys first to last; which of them are there, as bits. */
static int read_keys(struct parse *p, const struct json_place *at, const json_t *object,
		     unsigned first, unsigned last, struct network_values *ret)
{
	int r = parse_object(p, at, object, &keys[first], last + 1 - first, ret);

	for (unsigned i = first; i <= last && r == 0; i++)
		if (parse_find(object, keys[i].name, NULL))
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

	if (r == 0 && parse_find(object, ipam.key, &ipam.key))
		r = parse_fail(p, &ipam, "comes from the pool alone, its plugins run on the host");
	return r;
}

int network_keys_of_order(struct parse *p, const struct json_place *at, const json_t *object,
			  struct network_values *ret)
{
	return read_keys(p, at, object, NETWORK_MTU, NETWORK_GUID, ret);
}
