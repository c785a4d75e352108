// SPDX-License-Identifier: Apache-2.0
#include "shim_result.h"

#include <errno.h>
#include <string.h>

#include "cleanup.h"
#include "shim_config.h"

/* --- members ---------------------------------------------------------------------------------- */

enum shim_kind {
	TEXT,
	NUMBER,
	INDEX, /* index of an interface; -1 = none */
	TEXTS,
};

struct shim_member {
	const char *name;
	enum shim_kind kind;
	bool required, since_1_0;
};

#define MEMBERS_MAX 8

static const struct shim_member interface_members[MEMBERS_MAX] = {
	{.name = "name", .kind = TEXT, .required = true},
	{.name = "mac", .kind = TEXT},
	{.name = "mtu", .kind = NUMBER, .since_1_0 = true},
	{.name = "sandbox", .kind = TEXT},
	{.name = "socketPath", .kind = TEXT, .since_1_0 = true},
	{.name = "pciID", .kind = TEXT, .since_1_0 = true},
};
static const struct shim_member ip_members[MEMBERS_MAX] = {
	{.name = "interface", .kind = INDEX},
	{.name = "address", .kind = TEXT, .required = true},
	{.name = "gateway", .kind = TEXT},
};
/* Members of "ip4" and "ip6" in versions 0.1.0 and 0.2.0, except "routes". */
static const struct shim_member family_members[MEMBERS_MAX] = {
	{.name = "ip", .kind = TEXT, .required = true},
	{.name = "gateway", .kind = TEXT},
};
static const struct shim_member route_members[MEMBERS_MAX] = {
	{.name = "dst", .kind = TEXT, .required = true},
	{.name = "gw", .kind = TEXT},
	{.name = "mtu", .kind = NUMBER},
	{.name = "advmss", .kind = NUMBER},
	{.name = "priority", .kind = NUMBER},
	{.name = "table", .kind = NUMBER},
	{.name = "scope", .kind = NUMBER},
};
static const struct shim_member dns_members[MEMBERS_MAX] = {
	{.name = "nameservers", .kind = TEXTS},
	{.name = "domain", .kind = TEXT},
	{.name = "search", .kind = TEXTS},
	{.name = "options", .kind = TEXTS},
};

static bool shim_is_texts(const json_t *list)
{
	const json_t *item;
	size_t i;

	json_array_foreach (list, i, item)
		if (!json_is_string(item))
			return false;
	return json_is_array(list);
}

static bool shim_is_kind(const json_t *value, enum shim_kind kind)
{
	switch (kind) {
	case TEXT:
		return json_is_string(value);
	case NUMBER:
	case INDEX:
		return json_is_integer(value);
	case TEXTS:
		return shim_is_texts(value);
	}
	return false;
}

static bool shim_is_absent(const json_t *value, enum shim_kind kind)
{
	return !value || json_is_null(value) ||
	       (kind == TEXT && json_is_string(value) && !json_string_length(value)) ||
	       (kind == TEXTS && json_is_array(value) && json_array_size(value) == 0) ||
	       (kind == INDEX && json_is_integer(value) && json_integer_value(value) < 0);
}

/* Copies the known members to a new object; NULL with the error. */
static json_t *shim_copy(const json_t *from, const struct shim_member *members, const char *what,
			 struct shim_error *e)
{
	json_t *to = json_object();

	if (!json_is_object(from)) {
		json_decref(to);
		shim_fail(e, SHIM_DECODE, "%s: not an object", what);
		return NULL;
	}
	for (const struct shim_member *m = members; m < members + MEMBERS_MAX && m->name; m++) {
		json_t *value = json_object_get(from, m->name);
		bool absent = shim_is_absent(value, m->kind);

		if (absent ? m->required : !shim_is_kind(value, m->kind)) {
			json_decref(to);
			shim_fail(e, SHIM_DECODE, "%s: \"%s\" is %s", what, m->name,
				  absent ? "missing" : "of a wrong type");
			return NULL;
		}
		if (!absent)
			json_object_set(to, m->name, value);
	}
	return to;
}

/* --- reading ---------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	const struct shim_member *members;
} shim_lists[] = {
	{"interfaces", interface_members},
	{"ips", ip_members},
	{"routes", route_members},
};

/* Appends the entries of one list. */
static int shim_read_list(json_t *to, const json_t *from, const struct shim_member *members,
			  const char *what, const char *name, struct shim_error *e)
{
	const json_t *item;
	char where[64];
	size_t i;

	if (!from || json_is_null(from))
		return 0;
	snprintf(where, sizeof(where), "%.30s: %.30s", what, name);
	if (!json_is_array(from))
		return shim_fail(e, SHIM_DECODE, "%s: not a list", where);
	json_array_foreach (from, i, item) {
		json_t *copy = shim_copy(item, members, where, e);

		if (!copy)
			return -EPROTO;
		json_array_append_new(to, copy);
	}
	return 0;
}

static int shim_read_dns(json_t *to, const json_t *from, const char *what, struct shim_error *e)
{
	json_t *dns;

	if (!from || json_is_null(from))
		return 0;
	dns = shim_copy(from, dns_members, what, e);
	if (!dns)
		return -EPROTO;
	json_object_set_new(to, "dns", dns);
	return 0;
}

/* Converts "ip4" or "ip6" of versions 0.1.0 and 0.2.0; pkg/types/020/types.go. */
static int shim_read_family(json_t *to, const json_t *ip, const char *what, struct shim_error *e)
{
	json_t *entry;

	if (!ip || json_is_null(ip))
		return 0;
	entry = shim_copy(ip, family_members, what, e);
	if (!entry)
		return -EPROTO;
	json_object_set(entry, "address", json_object_get(entry, "ip"));
	json_object_del(entry, "ip");
	json_array_append_new(json_object_get(to, "ips"), entry);
	return shim_read_list(json_object_get(to, "routes"), json_object_get(ip, "routes"),
			      route_members, what, "routes", e);
}

json_t *shim_result_read(const json_t *source, const char *version, const char *what,
			 struct shim_error *e)
{
	json_t *to = json_pack("{s[]s[]s[]s{}}", "interfaces", "ips", "routes", "dns");
	int r = to ? 0 : shim_fail(e, SHIM_INTERNAL, "out of memory");

	if (r == 0 && !json_is_object(source))
		r = shim_fail(e, SHIM_DECODE, "%s: not an object", what);
	if (r == 0 && !shim_version_reaches(version, 0, 3)) {
		r = shim_read_family(to, json_object_get(source, "ip4"), what, e);
		if (r == 0)
			r = shim_read_family(to, json_object_get(source, "ip6"), what, e);
	} else {
		for (size_t i = 0; r == 0 && i < ARRAY_SIZE(shim_lists); i++)
			r = shim_read_list(json_object_get(to, shim_lists[i].name),
					   json_object_get(source, shim_lists[i].name),
					   shim_lists[i].members, what, shim_lists[i].name, e);
	}
	if (r == 0)
		r = shim_read_dns(to, json_object_get(source, "dns"), what, e);
	if (r == 0)
		return to;
	json_decref(to);
	return NULL;
}

/* --- a chain ---------------------------------------------------------------------------------- */

static bool shim_same(const json_t *a, const json_t *b, const char *key)
{
	return json_equal(json_object_get(a, key), json_object_get(b, key)) ||
	       (!json_object_get(a, key) && !json_object_get(b, key));
}

static bool shim_has_item(const json_t *list, const json_t *item, const char *key,
			  const char *other_key)
{
	const json_t *mine;
	size_t i;

	json_array_foreach (list, i, mine)
		if (shim_same(mine, item, key) && shim_same(mine, item, other_key))
			return true;
	return false;
}

/* True if our result has every interface and address of the previous one. */
static bool shim_contains(const json_t *result, const json_t *previous)
{
	const json_t *item;
	size_t i;

	json_array_foreach (json_object_get(previous, "interfaces"), i, item)
		if (!shim_has_item(json_object_get(result, "interfaces"), item, "name", "sandbox"))
			return false;
	json_array_foreach (json_object_get(previous, "ips"), i, item)
		if (!shim_has_item(json_object_get(result, "ips"), item, "address", "address"))
			return false;
	return true;
}

static void shim_shift_interfaces(json_t *ips, size_t by)
{
	json_t *ip, *index;
	size_t i;

	json_array_foreach (ips, i, ip) {
		index = json_object_get(ip, "interface");
		if (index)
			json_object_set_new(
				ip, "interface",
				json_integer(json_integer_value(index) + (json_int_t)by));
	}
}

int shim_result_chain(json_t *result, const json_t *previous, struct shim_error *e)
{
	bool known = shim_contains(result, previous);

	if (!known)
		shim_shift_interfaces(json_object_get(result, "ips"),
				      json_array_size(json_object_get(previous, "interfaces")));
	for (size_t i = 0; !known && i < ARRAY_SIZE(shim_lists); i++) {
		json_t *all = json_copy(json_object_get(previous, shim_lists[i].name));

		if (json_array_extend(all, json_object_get(result, shim_lists[i].name)) < 0) {
			json_decref(all);
			return shim_fail(e, SHIM_INTERNAL, "out of memory");
		}
		json_object_set_new(result, shim_lists[i].name, all);
	}
	if (json_object_size(json_object_get(result, "dns")) == 0)
		json_object_set(result, "dns", json_object_get(previous, "dns"));
	return 0;
}

/* --- writing ---------------------------------------------------------------------------------- */

static bool shim_is_v6(const json_t *item, const char *key)
{
	return strchr(json_string_value(json_object_get(item, key)), ':') != NULL;
}

/* Returns the routes of one family, for "ip4" or "ip6". */
static json_t *shim_old_routes(const json_t *routes, bool v6)
{
	json_t *to = json_array(), *gateway;
	const json_t *route;
	size_t i;

	json_array_foreach (routes, i, route) {
		json_t *old = json_object();

		if (shim_is_v6(route, "dst") != v6) {
			json_decref(old);
			continue;
		}
		gateway = json_object_get(route, "gw");
		json_object_set(old, "dst", json_object_get(route, "dst"));
		if (gateway)
			json_object_set(old, "gw", gateway);
		json_array_append_new(to, old);
	}
	return to;
}

/* Writes "ip4" or "ip6". Versions 0.1.0 and 0.2.0 have at most one address of each family. */
static int shim_write_family(json_t *to, const json_t *result, bool v6)
{
	const json_t *ip;
	json_t *family, *routes;
	size_t i;

	json_array_foreach (json_object_get(result, "ips"), i, ip) {
		if (shim_is_v6(ip, "address") != v6)
			continue;
		family = json_object();
		json_object_set(family, "ip", json_object_get(ip, "address"));
		if (json_object_get(ip, "gateway"))
			json_object_set(family, "gateway", json_object_get(ip, "gateway"));
		routes = shim_old_routes(json_object_get(result, "routes"), v6);
		if (json_array_size(routes))
			json_object_set(family, "routes", routes);
		json_decref(routes);
		json_object_set_new(to, v6 ? "ip6" : "ip4", family);
		return 1;
	}
	return 0;
}

/* Removes the members that versions 0.3.0 to 0.4.0 do not have. */
static void shim_drop_newer(json_t *interfaces)
{
	json_t *item;
	size_t i;

	json_array_foreach (interfaces, i, item) {
		for (const struct shim_member *m = interface_members; m->name; m++)
			if (m->since_1_0)
				json_object_del(item, m->name);
	}
}

static void shim_add_family(json_t *ips)
{
	json_t *item;
	size_t i;

	json_array_foreach (ips, i, item) {
		json_object_set_new(item, "version",
				    json_string(shim_is_v6(item, "address") ? "6" : "4"));
	}
}

static void shim_write_lists(json_t *to, const json_t *result, const char *version)
{
	for (size_t i = 0; i < ARRAY_SIZE(shim_lists); i++) {
		const json_t *list = json_object_get(result, shim_lists[i].name);

		if (json_array_size(list))
			json_object_set_new(to, shim_lists[i].name, json_deep_copy(list));
	}
	if (!shim_version_reaches(version, 1, 0)) {
		shim_drop_newer(json_object_get(to, "interfaces"));
		shim_add_family(json_object_get(to, "ips"));
	}
}

json_t *shim_result_write(const json_t *result, const char *version, struct shim_error *e)
{
	json_t *to = json_pack("{ss}", "cniVersion", version);
	json_t *dns = json_object_get(result, "dns");

	if (!to) {
		shim_fail(e, SHIM_INTERNAL, "out of memory");
		return NULL;
	}
	if (shim_version_reaches(version, 0, 3)) {
		shim_write_lists(to, result, version);
	} else if (shim_write_family(to, result, false) + shim_write_family(to, result, true) ==
		   0) {
		json_decref(to);
		shim_fail(e, SHIM_INTERNAL,
			  "cannot convert: no valid IP addresses, which CNI %s requires", version);
		return NULL;
	}
	if (!shim_version_reaches(version, 1, 0) || json_object_size(dns))
		json_object_set(to, "dns", dns);
	return to;
}
