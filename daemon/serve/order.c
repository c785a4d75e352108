/* order.c - one small reader per key. */
#include "order.h"

#include <jansson.h>
#include <linux/if_ether.h>
#include <netinet/in.h>

#include "cleanup.h"
#include "network_text.h"

/* The kernel's limits for Ethernet: ETH_MIN_MTU in linux/if_ether.h, and what a netdev can have. */
#define MTU_MIN 68
#define MTU_MAX 65535

typedef int read_fn(struct order *, const json_t *, struct err *);

struct order_key {
	const char *name;
	unsigned kinds; /* bits of enum order_kind */
	read_fn *read;
};

/* --- words ------------------------------------------------------------------------------------ */

/* Printable ASCII without blanks, so that it can stand in a sentence and a log line. */
static bool is_word(const char *s)
{
	if (*s == '\0')
		return false;
	for (; *s; s++)
		if (*s <= ' ' || *s > '~')
			return false;
	return true;
}

static int read_word(char *dst, size_t size, const json_t *value, const char *key, struct err *e)
{
	const char *s = json_string_value(value);

	if (!s || !is_word(s) || strlen(s) >= size)
		return err_set(e, -EINVAL, "%s is not a string of 1 to %zu printable characters",
			       key, size - 1);
	snprintf(dst, size, "%s", s);
	return 0;
}

static int read_number(uint32_t *dst, uint32_t min, uint32_t max, const json_t *value,
		       const char *key, struct err *e)
{
	json_int_t n = json_integer_value(value);

	if (!json_is_integer(value) || n < (json_int_t)min || n > (json_int_t)max)
		return err_set(e, -EINVAL, "%s is not a number from %u to %u", key, min, max);
	*dst = (uint32_t)n;
	return 0;
}

static int read_flag(bool *dst, const json_t *value, const char *key, struct err *e)
{
	if (!json_is_boolean(value))
		return err_set(e, -EINVAL, "%s is neither true nor false", key);
	*dst = json_is_true(value);
	return 0;
}

/* --- keys ------------------------------------------------------------------------------------- */

static int read_device(struct order *o, const json_t *value, struct err *e)
{
	return read_word(o->device, sizeof(o->device), value, "device", e);
}

static int read_netns(struct order *o, const json_t *value, struct err *e)
{
	int r = read_word(o->owner.netns.path, sizeof(o->owner.netns.path), value, "netns", e);

	if (r == 0 && o->owner.netns.path[0] != '/')
		return err_set(e, -EINVAL, "netns is not a path that begins with '/'");
	return r;
}

/* "namespace/name"; a name alone is one of namespace default. */
static int read_pod(struct order *o, const json_t *value, struct err *e)
{
	struct attach_owner *owner = &o->owner;
	char text[sizeof(owner->namespace) + sizeof(owner->pod)] = "";
	int r = read_word(text, sizeof(text), value, "pod", e);
	char *slash = r == 0 ? strchr(text, '/') : NULL;
	const char *name = slash ? slash + 1 : text;

	if (r < 0)
		return r;
	if (slash)
		*slash = '\0';
	else
		strcpy(owner->namespace, "default");
	if (slash && (!text[0] || strlen(text) >= sizeof(owner->namespace)))
		return err_set(e, -EINVAL, "pod is not NAMESPACE/NAME");
	if (!name[0] || strchr(name, '/') || strlen(name) >= sizeof(owner->pod))
		return err_set(e, -EINVAL, "pod is not NAMESPACE/NAME");
	if (slash)
		snprintf(owner->namespace, sizeof(owner->namespace), "%.*s",
			 (int)sizeof(owner->namespace) - 1, text);
	snprintf(owner->pod, sizeof(owner->pod), "%.*s", (int)sizeof(owner->pod) - 1, name);
	return 0;
}

static int read_interface(struct order *o, const json_t *value, struct err *e)
{
	int r = read_word(o->plan.ifname, sizeof(o->plan.ifname), value, "interface", e);
	const char *wrong = r == 0 ? ifname_wrong(o->plan.ifname) : NULL;

	return wrong ? err_set(e, -EINVAL, "interface %s %s", o->plan.ifname, wrong) : r;
}

/* Unspecified and multicast addresses are nobody's. */
static bool is_hosts(const struct ip_prefix *p)
{
	static const uint8_t zero[16];
	size_t size = p->family == AF_INET6 ? 16 : 4;

	return memcmp(p->addr, zero, size) != 0 &&
	       (p->family == AF_INET6 ? p->addr[0] != 0xff : (p->addr[0] & 0xf0) != 0xe0);
}

static bool is_there(const struct net_plan *plan, const struct ip_prefix *p)
{
	for (size_t i = 0; i < plan->n_ips; i++)
		if (ip_same_address(&plan->ips[i], p))
			return true;
	return false;
}

static int read_ips(struct order *o, const json_t *value, struct err *e)
{
	size_t n = json_array_size(value);

	if (!json_is_array(value) || n > PLAN_IPS_MAX)
		return err_set(e, -EINVAL, "ips is not a list of at most %d addresses",
			       PLAN_IPS_MAX);
	for (size_t i = 0; i < n; i++) {
		const char *text = json_string_value(json_array_get(value, i));
		struct ip_prefix p = {0};

		if (!text || !ip_prefix_parse(text, &p) || p.len == 0 || !is_hosts(&p))
			return err_set(
				e, -EINVAL,
				"ips: item %zu is not an address with its prefix length, like "
				"10.9.0.1/24",
				i + 1);
		if (is_there(&o->plan, &p))
			return err_set(e, -EINVAL, "ips: item %zu is there twice", i + 1);
		o->plan.ips[o->plan.n_ips++] = p;
	}
	return 0;
}

static int read_mac(struct order *o, const json_t *value, struct err *e)
{
	static const uint8_t zero[6];
	const char *s = json_string_value(value);
	uint8_t mac[6];

	if (!s || !hex_bytes_parse(s, mac, sizeof(mac)) || (mac[0] & 1) ||
	    memcmp(mac, zero, 6) == 0)
		return err_set(e, -EINVAL,
			       "mac is not the address of one interface, like 02:00:00:00:00:01");
	o->plan.has_mac = true;
	memcpy(o->plan.mac, mac, sizeof(mac));
	memcpy(o->plan.vf.mac, mac, sizeof(mac));
	o->plan.vf.fields |= VF_MAC;
	return 0;
}

static int read_vlan(struct order *o, const json_t *value, struct err *e)
{
	uint32_t vlan = 0;
	int r = read_number(&vlan, 0, 4094, value, "vlan", e);

	o->plan.vf.vlan = (uint16_t)vlan;
	o->plan.vf.vlan_proto = ETH_P_8021Q;
	o->plan.vf.fields |= VF_VLAN;
	return r;
}

static int read_mtu(struct order *o, const json_t *value, struct err *e)
{
	uint32_t mtu = 0;
	int r = read_number(&mtu, MTU_MIN, MTU_MAX, value, "mtu", e);

	o->plan.mtu = mtu;
	return r;
}

static int read_soft_roce(struct order *o, const json_t *value, struct err *e)
{
	return read_flag(&o->plan.soft_roce, value, "softRoce", e);
}

/* As in the annotation, the "ipam" object of a CNI configuration. */
static int read_ipam(struct order *o, const json_t *value, struct err *e)
{
	const char *type = json_string_value(json_object_get(value, "type"));
	size_t n;

	if (!type || !is_word(type) || strchr(type, '/'))
		return err_set(e, -EINVAL,
			       "ipam is not an object with a plugin's name as \"type\"");
	n = json_dumpb(value, o->plan.ipam, sizeof(o->plan.ipam) - 1, JSON_COMPACT);
	if (n == 0 || n >= sizeof(o->plan.ipam))
		return err_set(e, -EINVAL, "ipam has more than %zu bytes",
			       sizeof(o->plan.ipam) - 1);
	o->plan.ipam[n] = '\0';
	return 0;
}

static int read_force(struct order *o, const json_t *value, struct err *e)
{
	return read_flag(&o->force, value, "force", e);
}

/* --- orders ----------------------------------------------------------------------------------- */

#define BIT(kind) (1u << (kind))

static const struct order_key keys[] = {
	{"device", BIT(ORDER_ATTACH) | BIT(ORDER_DETACH), read_device},
	{"netns", BIT(ORDER_ATTACH), read_netns},
	{"pod", BIT(ORDER_ATTACH), read_pod},
	{"interface", BIT(ORDER_ATTACH), read_interface},
	{"ips", BIT(ORDER_ATTACH), read_ips},
	{"mac", BIT(ORDER_ATTACH), read_mac},
	{"vlan", BIT(ORDER_ATTACH), read_vlan},
	{"mtu", BIT(ORDER_ATTACH), read_mtu},
	{"softRoce", BIT(ORDER_ATTACH), read_soft_roce},
	{"ipam", BIT(ORDER_ATTACH), read_ipam},
	{"force", BIT(ORDER_DETACH), read_force},
};

static const struct order_key *find_key(enum order_kind kind, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if ((keys[i].kinds & BIT(kind)) && strcmp(keys[i].name, name) == 0)
			return &keys[i];
	return NULL;
}

static int read_object(struct order *o, enum order_kind kind, json_t *object, struct err *e)
{
	const struct order_key *key;
	const char *name;
	json_t *value;
	int r = 0;

	if (!json_is_object(object))
		return err_set(e, -EINVAL, "an order is a JSON object");
	json_object_foreach (object, name, value) {
		key = find_key(kind, name);
		if (!key)
			return err_set(e, -EINVAL, "%s is no key of this order",
				       is_word(name) && strlen(name) < 64 ? name : "something");
		r = json_is_null(value) ? 0 : key->read(o, value, e);
		if (r < 0)
			return r;
	}
	return 0;
}

/* What every order of a kind says. */
static int check_whole(struct order *o, enum order_kind kind, struct err *e)
{
	if (kind != ORDER_FIX && !o->device[0])
		return err_set(e, -EINVAL, "device is missing");
	if (kind == ORDER_ATTACH && !o->owner.netns.path[0] == !o->owner.pod[0])
		return err_set(e, -EINVAL, "give either netns or pod");
	if (kind == ORDER_ATTACH && !o->plan.ifname[0])
		strcpy(o->plan.ifname, "net1");
	return 0;
}

int order_parse(struct order *ret, enum order_kind kind, const char *text, size_t len,
		struct err *e)
{
	struct order o = {.owner.door = DOOR_ADMIN};
	json_error_t why;
	json_t *object;
	int r;

	if (kind == ORDER_FIX && len == 0) {
		*ret = o;
		return 0;
	}
	object = json_loadb(text ? text : "", len, JSON_REJECT_DUPLICATES, &why);
	if (!object)
		return err_set(e, -EINVAL, "this is not JSON");
	r = read_object(&o, kind, object, e);
	json_decref(object);
	if (r == 0)
		r = check_whole(&o, kind, e);
	if (r == 0)
		*ret = o;
	return r;
}
