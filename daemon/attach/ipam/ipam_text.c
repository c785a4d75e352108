// SPDX-License-Identifier: Apache-2.0
/* ipam_text.c - the input and the answers of an IPAM plugin, as text: CNI specification 1.1.0,
 * sections 3 ("Execution of Network Configurations") and 5 ("Result Types"). See ipam.h. Pure. */
#include <arpa/inet.h>
#include <jansson.h>
#include <string.h>

#include "ipam.h"
#include "json_text.h"
#include "network_text.h"

/* CNI version of requests: every plugin supports it. GC and STATUS need 1.1.0. */
#define CNI_VERSION	   "1.0.0"
#define CNI_VERSION_STATUS "1.1.0"
/* Error codes of the specification; a plugin that lacks the command returns VERSION or ENV. */
#define CODE_VERSION	   1
#define CODE_ENV	   4
#define CODE_AGAIN	   11
#define CODE_LIMITED	   51 /* of STATUS */
#define MAIN_TABLE	   254
#define QUOTE_SIZE	   100

/* --- input -------------------------------------------------------------------------- */

int ipam_needs_of(const struct attach_record *r, struct ipam_needs *ret, struct err *e)
{
	json_auto_t *root = json_text_load(r->plan.ipam, strlen(r->plan.ipam),
					   JSON_REJECT_DUPLICATES, NULL);
	int error = root ? ipam_needs_read(ret, root, e) : err_set(e, -EINVAL, "is not JSON");

	return error < 0 ? err_wrap(e, "\"ipam\"") : 0;
}

/* Writes the network's name: that of the CNI configuration, otherwise the resource's with '_' in
 * place of '/'. Only letters, digits, '_', '.' and '-' are allowed. */
static void network_name(const struct attach_record *r, char *name, size_t size)
{
	const char *like = r->owner.network[0] ? r->owner.network : r->resource;

	snprintf(name, size, "%s", like[0] != '\0' ? like : "rocelet");
	for (char *c = name; *c; c++)
		if (*c == '/')
			*c = '_';
}

static json_t *ipam_object(const struct attach_record *r)
{
	return json_text_load(r->plan.ipam, strlen(r->plan.ipam), 0, NULL);
}

/* Sets the version of prevResult, because plugins reject another version than the configuration's.
 * The form of 0.4.0, the first version with CHECK, differs from later ones only by members that are
 * ignored (containernetworking/cni, pkg/types/040). */
static int ipam_set_prev_version(json_t *root)
{
	const json_t *prev = json_object_get(root, "prevResult");
	json_t *copy;

	if (!json_is_object(prev))
		return 0;
	copy = json_copy((json_t *)prev);
	if (json_object_set(copy, "cniVersion", json_object_get(root, "cniVersion")) == 0)
		return json_object_set_new(root, "prevResult", copy);
	json_decref(copy);
	return -ENOMEM;
}

char *ipam_config(const struct attach_record *r, enum ipam_verb verb, const json_t *more)
{
	const bool is_new = verb == IPAM_GC || verb == IPAM_STATUS;
	char name[RESOURCE_NAME_SIZE + CNI_NETWORK_SIZE];
	json_auto_t *root = NULL, *carried = NULL;
	json_t *ipam = ipam_object(r);
	char *text = NULL;

	network_name(r, name, sizeof(name));
	carried = json_incref(json_object_get(ipam, IPAM_CARRIED));
	json_object_del(ipam, "needs"); /* ours */
	json_object_del(ipam, IPAM_CARRIED);
	root = json_pack("{s:s, s:s, s:s, s:o, s:O*, s:O*}", "cniVersion",
			 is_new ? CNI_VERSION_STATUS : CNI_VERSION, "name", name, "type", "rocelet",
			 "ipam", ipam, "runtimeConfig", json_object_get(carried, "runtimeConfig"),
			 "args", json_object_get(carried, "args"));
	if (root && (!more || json_object_update_missing(root, (json_t *)more) == 0) &&
	    ipam_set_prev_version(root) == 0)
		text = json_dumps(root, JSON_COMPACT);
	return text;
}

char *ipam_args(const struct attach_record *r)
{
	const struct attach_owner *o = &r->owner;
	json_auto_t *ipam = ipam_object(r);
	const char *more = json_string_value(
		json_object_get(json_object_get(ipam, IPAM_CARRIED), "env"));
	char *text;

	if (asprintf(&text,
		     "CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=%s;K8S_POD_NAME=%s;"
		     "K8S_POD_INFRA_CONTAINER_ID=%s;K8S_POD_UID=%s%s%s",
		     o->namespace, o->pod, o->sandbox, o->uid, more ? ";" : "",
		     more ? more : "") < 0)
		text = NULL;
	return text;
}

/* --- answers -------------------------------------------------------------------------- */

/* Quotes the beginning of the plugin's own text, in one line. */
static void quote(const char *text, size_t len, char ret[QUOTE_SIZE])
{
	size_t n = len < QUOTE_SIZE - 1 ? len : QUOTE_SIZE - 1;

	while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' '))
		n--;
	for (size_t i = 0; i < n; i++)
		ret[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
	ret[n] = '\0';
}

static bool ipam_is_usable(const struct ip_prefix *p)
{
	static const uint8_t none[16];

	return memcmp(p->addr, none, sizeof(none)) != 0 &&
	       !(p->family == AF_INET && p->addr[0] >= 224) &&
	       !(p->family == AF_INET6 && p->addr[0] == 0xff);
}

/* The kernel rejects a destination that has bits beyond its prefix length. */
static void ipam_mask(struct ip_prefix *p)
{
	for (unsigned bit = p->len; bit < 128; bit++)
		p->addr[bit / 8] &= (uint8_t) ~(0x80u >> bit % 8);
}

static const char *string_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static int ipam_read_ips(struct attach_record *r, const json_t *list, struct err *e)
{
	r->n_ips = 0;
	if (json_array_size(list) == 0)
		return err_set(e, -EBADMSG, "the plugin returned no address");
	if (json_array_size(list) > PLAN_IPS_MAX)
		return err_set(e, -EBADMSG, "the plugin returned %zu addresses, more than %d",
			       json_array_size(list), PLAN_IPS_MAX);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *text = string_of(json_array_get(list, i), "address");

		if (!text || !ip_prefix_parse(text, &r->ips[i]) || !ipam_is_usable(&r->ips[i]))
			return err_set(e, -EBADMSG,
				       "the plugin returned \"%.60s\", which is not an address",
				       text ? text : "");
		r->n_ips++;
	}
	return 0;
}

/* Finds the gateway of the first address of that family that has a gateway. */
static void default_gateway(const json_t *ips, int family, struct ip_prefix *ret)
{
	for (size_t i = 0; i < json_array_size(ips); i++) {
		const char *text = string_of(json_array_get(ips, i), "gateway");
		struct ip_prefix gateway;

		if (!text || !ip_address_parse(text, &gateway) || gateway.family != family)
			continue;
		*ret = gateway;
		return;
	}
}

static int ipam_read_route(struct net_route *ret, const json_t *route, const json_t *ips,
			   struct err *e)
{
	const char *dst = string_of(route, "dst"), *gw = string_of(route, "gw");
	json_int_t priority = json_integer_value(json_object_get(route, "priority"));
	const json_t *table = json_object_get(route, "table");

	if (!dst || !ip_prefix_parse(dst, &ret->dst))
		return err_set(e, -EBADMSG, "the plugin returned a route to \"%.60s\"",
			       dst ? dst : "");
	ipam_mask(&ret->dst);
	if (!gw)
		default_gateway(ips, ret->dst.family, &ret->gateway);
	else if (!ip_address_parse(gw, &ret->gateway) || ret->gateway.family != ret->dst.family)
		return err_set(e, -EBADMSG,
			       "the plugin returned a route to %.60s through \"%.60s\"", dst, gw);
	if (priority < 0 || priority > UINT32_MAX)
		return err_set(e, -EBADMSG,
			       "the plugin returned a route to %.60s with priority %lld", dst,
			       (long long)priority);
	if (json_is_integer(table) && json_integer_value(table) != MAIN_TABLE)
		return err_set(e, -EBADMSG,
			       "the plugin returned a route to %.60s in table %lld, not main", dst,
			       (long long)json_integer_value(table));
	ret->priority = (uint32_t)priority;
	return 0;
}

static int ipam_read_routes(struct attach_record *r, const json_t *list, const json_t *ips,
			    struct err *e)
{
	r->n_routes = 0;
	if (json_array_size(list) > PLAN_ROUTES_MAX)
		return err_set(e, -EBADMSG, "the plugin returned %zu routes, more than %d",
			       json_array_size(list), PLAN_ROUTES_MAX);
	for (size_t i = 0; i < json_array_size(list); i++) {
		int error = ipam_read_route(&r->routes[i], json_array_get(list, i), ips, e);

		if (error < 0)
			return error;
		r->n_routes++;
	}
	return 0;
}

int ipam_parse_result(struct attach_record *r, const char *text, size_t len, struct err *e)
{
	json_t *root = json_text_load(text, len, 0, NULL);
	json_t *ips = json_object_get(root, "ips");
	struct attach_record got = {0};
	char beginning[QUOTE_SIZE];
	int error;

	quote(text, len, beginning);
	if (!json_is_object(root))
		error = err_set(e, -EBADMSG, "the answer is not a JSON object: \"%s\"", beginning);
	else
		error = ipam_read_ips(&got, ips, e);
	if (error == 0)
		error = ipam_read_routes(&got, json_object_get(root, "routes"), ips, e);
	json_decref(root);
	if (error < 0)
		return error;
	memcpy(r->ips, got.ips, sizeof(r->ips));
	memcpy(r->routes, got.routes, sizeof(r->routes));
	r->n_ips = got.n_ips;
	r->n_routes = got.n_routes;
	return 0;
}

static void describe_end(int exit_status, const char *message, struct err *e)
{
	if (exit_status < 0)
		err_set(e, -EIO, "killed by signal %d", -exit_status);
	else
		err_set(e, -EIO, "exit status %d", exit_status);
	if (message[0] != '\0') {
		size_t n = strlen(e->msg);

		snprintf(e->msg + n, sizeof(e->msg) - n, ": %s", message);
	}
}

static int ipam_code_of(json_int_t code, const char *msg)
{
	if (code == CODE_AGAIN)
		return -EAGAIN;
	if (code == CODE_LIMITED)
		return -ENETUNREACH;
	if (code == CODE_VERSION || strcasestr(msg, "not implemented") ||
	    (code == CODE_ENV && strstr(msg, "unknown CNI_COMMAND")))
		return -EOPNOTSUPP;
	return -EIO;
}

void ipam_parse_error(const char *text, size_t len, int exit_status, struct err *e)
{
	json_auto_t *root = json_text_load(text, len, 0, NULL);
	const char *msg = string_of(root, "msg"), *details = string_of(root, "details");
	json_int_t code = json_integer_value(json_object_get(root, "code"));
	char message[QUOTE_SIZE], more[QUOTE_SIZE] = "";

	if (msg) {
		quote(msg, strlen(msg), message);
		if (details && details[0])
			quote(details, strlen(details), more);
		err_set(e, ipam_code_of(code, msg), "%s%s%s (code %lld)", message,
			more[0] ? "; " : "", more, (long long)code);
	} else {
		quote(text, len, message);
		describe_end(exit_status, message, e);
	}
}
