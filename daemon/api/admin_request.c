// SPDX-License-Identifier: Apache-2.0
/* admin_request.c - parses admin requests; the plan of the interface is parsed and checked by
 * network_keys.h. */
#include "admin_request.h"

#include <jansson.h>
#include <strings.h>

#include "cleanup.h"
#include "json_text.h"
#include "network_keys.h"

/* --- words ------------------------------------------------------------------------------------ */

/* True for printable ASCII without blanks, which is safe in messages and log lines. */
static bool admin_request_is_word(const char *s)
{
	if (*s == '\0')
		return false;
	for (; *s; s++)
		if (*s <= ' ' || *s > '~')
			return false;
	return true;
}

static int admin_request_read_word(struct parse *p, const struct json_place *at,
				   const json_t *value, char *dst, size_t size)
{
	const char *s = json_string_value(value);

	if (!s || !admin_request_is_word(s) || strlen(s) >= size)
		return parse_fail(
			p, at,
			"is not a string of 1 to %zu printable ASCII characters without blanks",
			size - 1);
	snprintf(dst, size, "%s", s);
	return 0;
}

/* --- keys ------------------------------------------------------------------------------------- */

static int admin_request_read_device(struct parse *p, const struct json_place *at,
				     const json_t *value, void *field)
{
	return admin_request_read_word(p, at, value, field,
				       sizeof(((struct admin_request *)0)->device));
}

static int read_netns(struct parse *p, const struct json_place *at, const json_t *value,
		      void *field)
{
	struct netns_id *netns = field;
	int r = admin_request_read_word(p, at, value, netns->path, sizeof(netns->path));

	if (r == 0 && netns->path[0] != '/')
		return parse_fail(p, at, "is not a path that begins with '/'");
	return r;
}

/* Reads "namespace/name"; a name alone is in namespace default. */
static int admin_request_read_pod(struct parse *p, const struct json_place *at, const json_t *value,
				  void *field)
{
	struct attach_owner *owner = field;
	char text[sizeof(owner->namespace) + sizeof(owner->pod)] = "";
	int r = admin_request_read_word(p, at, value, text, sizeof(text));
	char *slash = r == 0 ? strchr(text, '/') : NULL;
	const char *name = slash ? slash + 1 : text, *namespace = slash ? text : "default";

	if (r < 0)
		return r;
	if (slash)
		*slash = '\0';
	if (!namespace[0] || strlen(namespace) >= sizeof(owner->namespace) || !name[0] ||
	    strchr(name, '/') || strlen(name) >= sizeof(owner->pod))
		return parse_fail(p, at, "is not NAMESPACE/NAME");
	strcpy(owner->namespace, namespace);
	strcpy(owner->pod, name);
	return 0;
}

#define KEY(name, read, field) PARSE_KEY(name, read, struct admin_request, field)

static const struct parse_key attach_keys[] = {
	KEY("device", admin_request_read_device, device),
	KEY("netns", read_netns, owner.netns),
	KEY("pod", admin_request_read_pod, owner),
	KEY("softRoce", parse_bool, plan.soft_roce),
};
static const struct parse_key detach_keys[] = {
	KEY("device", admin_request_read_device, device),
	KEY("force", parse_bool, force),
};
static const struct parse_key hand_over_keys[] = {
	KEY("pod", admin_request_read_pod, owner),
};

/* --- requests --------------------------------------------------------------------------------- */

/* Moves the request's own keys from the object into a new one; the remaining keys are the plan's.
 * NULL: out of memory. */
static json_t *take_own(json_t *object)
{
	json_t *own = json_object();

	for (size_t i = 0; own && i < ARRAY_SIZE(attach_keys); i++) {
		const char *name;
		json_t *value;
		void *next;

		json_object_foreach_safe(object, next, name, value)
		{
			if (strcasecmp(name, attach_keys[i].name) != 0)
				continue;
			if (json_object_set(own, name, value) < 0) {
				json_decref(own);
				return NULL;
			}
			json_object_del(object, name);
		}
	}
	return own;
}

static int admin_request_check_plan(struct parse *p, const struct net_plan *plan)
{
	struct json_place at = {0};
	const char *wrong = network_wrong(plan, &at.key);

	return wrong ? parse_fail(p, &at, "%s", wrong) : 0;
}

static int read_attach(struct parse *p, json_t *object, struct admin_request *o)
{
	struct network_values values = {0};
	json_t *own = json_is_object(object) ? take_own(object) : json_incref(object);
	int r = own ? parse_object(p, NULL, own, attach_keys, ARRAY_SIZE(attach_keys), o)
		    : parse_no_memory(p);

	json_decref(own);
	if (r == 0)
		r = network_keys_of_admin_request(p, NULL, object, &values);
	if (r < 0)
		return r;
	values.request.plan.soft_roce = o->plan.soft_roce;
	o->plan = values.request.plan;
	if (!o->plan.ifname[0])
		strcpy(o->plan.ifname, "net1");
	if (!o->device[0])
		return parse_fail(p, NULL, "device is missing");
	if (!o->owner.netns.path[0] == !o->owner.pod[0])
		return parse_fail(p, NULL, "give either netns or pod");
	return admin_request_check_plan(p, &o->plan);
}

static int admin_request_read(struct parse *p, enum admin_request_kind kind, json_t *object,
			      struct admin_request *o)
{
	int r = 0;

	switch (kind) {
	case ADMIN_ATTACH:
		r = read_attach(p, object, o);
		break;
	case ADMIN_DETACH:
		r = parse_object(p, NULL, object, detach_keys, ARRAY_SIZE(detach_keys), o);
		break;
	case ADMIN_FIX:
		return parse_object(p, NULL, object, NULL, 0, o);
	case ADMIN_HAND_OVER:
		return parse_object(p, NULL, object, hand_over_keys, ARRAY_SIZE(hand_over_keys), o);
	}
	return r == 0 && !o->device[0] ? parse_fail(p, NULL, "device is missing") : r;
}

int admin_request_parse(struct admin_request *ret, enum admin_request_kind kind, const char *text,
			size_t len, struct err *e)
{
	struct admin_request o = {.owner.door = DOOR_ADMIN};
	struct err mine = {0};
	struct parse p = {.file = "the request", .strict = true, .err = e ? e : &mine};
	json_error_t where;
	json_t *object;
	int r;

	if (kind == ADMIN_FIX && len == 0) {
		*ret = o;
		return 0;
	}
	object = json_text_load(text ? text : "", len, JSON_REJECT_DUPLICATES, &where);
	if (!object && json_text_no_memory(&where))
		return parse_no_memory(&p);
	if (!object)
		return parse_fail(&p, NULL, "is not JSON");
	r = admin_request_read(&p, kind, object, &o);
	json_decref(object);
	if (r == 0)
		*ret = o;
	return r;
}
