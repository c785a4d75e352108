#include "ctl_merge.h"

#include <string.h>

#include "cleanup.h"
#include "json_text.h"
#include "listing.h"

static const json_t *member(const json_t *object, const char *key)
{
	return json_object_get(object, key);
}

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(member(object, key));
}

/* What stands there, null for nothing; new. */
static json_t *copy_of(const json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	return value ? json_incref(value) : json_null();
}

static bool is_port(const json_t *object, const json_t *port)
{
	return json_equal(member(object, "device"), member(port, "device")) &&
	       json_equal(member(object, "port"), member(port, "port"));
}

/* --- ports ------------------------------------------------------------------------------------ */

/* Of the pod that has the device for itself; new. */
static json_t *holder_of(const json_t *device, const char *path)
{
	AUTO_FREE char *text = listing_text(device, path);

	return json_text(text);
}

static json_t *port_of(const json_t *device, const json_t *rdma, const json_t *port)
{
	return json_pack(
		"{so so so so so so so so so so so so so so so}", "device", copy_of(rdma, "name"),
		"port", copy_of(port, "port"), "netdev", copy_of(port, "netdev"), "function",
		copy_of(device, "id"), "kind", copy_of(device, "kind"), "parent",
		copy_of(device, "parent"), "vf", copy_of(device, "vf"), "driver",
		copy_of(rdma, "driver"), "state", copy_of(port, "state"), "linkLayer",
		copy_of(port, "linkLayer"), "rateBps", copy_of(port, "rateBitsPerSecond"), "mtu",
		copy_of(port, "activeMtu"), "namespace",
		holder_of(device, "attachment.namespace|resources.holder.namespace"), "pod",
		holder_of(device, "attachment.pod|resources.holder.pod"), "container",
		holder_of(device, "attachment.container|resources.holder.container"));
}

static const json_t *watched_port(const json_t *diagnosis, const json_t *port)
{
	json_t *watched;
	size_t i;

	json_array_foreach (member(diagnosis, "ports"), i, watched) {
		if (is_port(watched, port))
			return watched;
	}
	return NULL;
}

/* "watch", "severity" of the worst verdict, and "causes" of all, the worst first. */
static void judge_port(json_t *port, const json_t *diagnosis)
{
	const json_t *verdicts = member(diagnosis, "verdicts"), *worst = NULL;
	json_t *causes = json_array(), *verdict;
	size_t i;

	for (json_int_t level = 3; level > 0; level--) {
		json_array_foreach ((json_t *)verdicts, i, verdict) {
			if (json_integer_value(member(verdict, "level")) != level ||
			    !is_port(verdict, port))
				continue;
			worst = worst ? worst : verdict;
			json_array_append_new(causes, copy_of(verdict, "cause"));
		}
	}
	json_object_set_new(port, "watch", copy_of(watched_port(diagnosis, port), "watch"));
	json_object_set_new(port, "severity", copy_of(worst, "severity"));
	json_object_set_new(port, "causes", causes);
}

static void add_ports(json_t *ports, const json_t *device, const json_t *diagnosis)
{
	json_t *rdma, *port;
	size_t i, k;

	json_array_foreach (member(device, "rdma"), i, rdma) {
		json_array_foreach (member(rdma, "ports"), k, port) {
			json_t *made = port_of(device, rdma, port);

			judge_port(made, diagnosis);
			json_array_append_new(ports, made);
		}
	}
}

json_t *ctl_ports(const struct ctl_answers *a)
{
	json_t *ports = json_array(), *device;
	size_t i;

	json_array_foreach (member(a->devices, "devices"), i, device) {
		add_ports(ports, device, a->diagnosis);
	}
	return json_pack("{sO* so}", "time", member(a->diagnosis, "time"), "ports", ports);
}

/* --- status ----------------------------------------------------------------------------------- */

/* Counts by the word at `key` of each object, {"pf":8,...}; null where there is no list. */
static json_t *count_by(const json_t *list, const char *key)
{
	json_t *counts = json_is_array(list) ? json_object() : json_null(), *object;
	size_t i;

	json_array_foreach ((json_t *)list, i, object) {
		const char *word = text_of(object, key);
		json_int_t n = word ? json_integer_value(member(counts, word)) : 0;

		if (word)
			json_object_set_new(counts, word, json_integer(n + 1));
	}
	return counts;
}

static json_t *count_of(const json_t *list)
{
	return json_is_array(list) ? json_integer((json_int_t)json_array_size(list)) : json_null();
}

/* The lines behind the first one, which is "ok" of a daemon that is ready. */
static json_t *remarks_of(const struct ctl_answers *a)
{
	const char *line = a->readiness ? a->readiness : "";
	json_t *lines = json_array();

	for (size_t len; *line; line += len + (line[len] == '\n')) {
		len = strcspn(line, "\n");
		if (len > 0 && !(a->ready && len == 2 && memcmp(line, "ok", 2) == 0))
			json_array_append_new(lines, json_stringn(line, len));
	}
	return lines;
}

static bool is_bad_resource(const json_t *r)
{
	const char *registration = text_of(r, "registration");

	return (registration && strcmp(registration, "registered") != 0) ||
	       json_integer_value(member(r, "healthy")) < json_integer_value(member(r, "devices"));
}

static bool any_bad_resource(const json_t *resources)
{
	json_t *resource;
	size_t i;

	json_array_foreach ((json_t *)resources, i, resource) {
		if (is_bad_resource(resource))
			return true;
	}
	return false;
}

/* What is only information is no reason to alarm anybody. */
static bool any_bad_verdict(const json_t *verdicts)
{
	json_t *verdict;
	size_t i;

	json_array_foreach ((json_t *)verdicts, i, verdict) {
		if (json_integer_value(member(verdict, "level")) > 1)
			return true;
	}
	return false;
}

static bool is_well(const struct ctl_answers *a)
{
	return a->ready && a->devices && a->doctor &&
	       json_array_size(member(a->doctor, "findings")) == 0 &&
	       !any_bad_resource(member(a->devices, "resources")) &&
	       !any_bad_verdict(member(a->diagnosis, "verdicts"));
}

json_t *ctl_status(const struct ctl_answers *a)
{
	return json_pack(
		"{sb sb so so so so so so so so}", "well", is_well(a), "ready", a->ready, "remarks",
		remarks_of(a), "devices", count_by(member(a->devices, "devices"), "kind"),
		"resources", copy_of(a->devices, "resources"), "pods",
		count_of(member(a->pods, "pods")), "attachments",
		count_by(member(a->attachments, "attachments"), "state"), "ports",
		count_by(member(a->diagnosis, "ports"), "watch"), "verdicts",
		copy_of(a->diagnosis, "verdicts"), "findings", copy_of(a->doctor, "findings"));
}
