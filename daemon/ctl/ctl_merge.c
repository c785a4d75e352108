// SPDX-License-Identifier: Apache-2.0
#include "ctl_merge.h"

#include <string.h>

#include "cleanup.h"
#include "ctl_show_diagnosis.h"
#include "json_text.h"
#include "listing.h"

static const json_t *ctl_merge_member(const json_t *object, const char *key)
{
	return json_object_get(object, key);
}

static const char *ctl_merge_text_of(const json_t *object, const char *key)
{
	return json_string_value(ctl_merge_member(object, key));
}

/* A new reference to the member, or null. */
static json_t *copy_of(const json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	return value ? json_incref(value) : json_null();
}

static bool ctl_is_port(const json_t *object, const json_t *port)
{
	return json_equal(ctl_merge_member(object, "device"), ctl_merge_member(port, "device")) &&
	       json_equal(ctl_merge_member(object, "port"), ctl_merge_member(port, "port"));
}

/* --- ports ------------------------------------------------------------------------------------ */

/* A text about the pod that holds the device exclusively; new reference. */
static json_t *ctl_holder_of(const json_t *device, const char *path)
{
	AUTO_FREE char *text = listing_text(device, path);

	return json_text(text);
}

static json_t *ctl_port_of(const json_t *device, const json_t *rdma, const json_t *port)
{
	return json_pack(
		"{so so so so so so so so so so so so so so so}", "device", copy_of(rdma, "name"),
		"port", copy_of(port, "port"), "netdev", copy_of(port, "netdev"), "function",
		copy_of(device, "id"), "kind", copy_of(device, "kind"), "parent",
		copy_of(device, "parent"), "vf", copy_of(device, "vf"), "driver",
		copy_of(rdma, "driver"), "state", copy_of(port, "state"), "linkLayer",
		copy_of(port, "linkLayer"), "rateBitsPerSecond", copy_of(port, "rateBitsPerSecond"),
		"activeMtu", copy_of(port, "activeMtu"), "namespace",
		ctl_holder_of(device, "attachment.namespace|resources.holder.namespace"), "pod",
		ctl_holder_of(device, "attachment.pod|resources.holder.pod"), "container",
		ctl_holder_of(device, "attachment.container|resources.holder.container"));
}

static const json_t *port_among(const json_t *ports, const json_t *port)
{
	json_t *other;
	size_t i;

	json_array_foreach ((json_t *)ports, i, other) {
		if (ctl_is_port(other, port))
			return other;
	}
	return NULL;
}

static const json_t *watched_port(const json_t *diagnosis, const json_t *port)
{
	return port_among(ctl_merge_member(diagnosis, "ports"), port);
}

/* Adds "watch", "severity" of the worst verdict, and "causes" of all verdicts, the worst first. */
static void ctl_judge_port(json_t *port, const json_t *diagnosis)
{
	const json_t *verdicts = ctl_merge_member(diagnosis, "verdicts"), *worst = NULL;
	json_t *causes = json_array(), *verdict;
	size_t i;

	for (json_int_t level = 3; level > 0; level--) {
		json_array_foreach ((json_t *)verdicts, i, verdict) {
			if (json_integer_value(ctl_merge_member(verdict, "level")) != level ||
			    !ctl_is_port(verdict, port))
				continue;
			worst = worst ? worst : verdict;
			json_array_append_new(causes, copy_of(verdict, "cause"));
		}
	}
	json_object_set_new(port, "watch", copy_of(watched_port(diagnosis, port), "watch"));
	json_object_set_new(port, "severity", copy_of(worst, "severity"));
	json_object_set_new(port, "causes", causes);
}

static void ctl_add_ports(json_t *ports, const json_t *device, const json_t *diagnosis)
{
	json_t *rdma, *port;
	size_t i, k;

	json_array_foreach (ctl_merge_member(device, "rdma"), i, rdma) {
		json_array_foreach (ctl_merge_member(rdma, "ports"), k, port) {
			json_t *made = ctl_port_of(device, rdma, port);

			ctl_judge_port(made, diagnosis);
			json_array_append_new(ports, made);
		}
	}
}

json_t *ctl_ports(const struct ctl_answers *a)
{
	json_t *ports = json_array(), *device;
	size_t i;

	json_array_foreach (ctl_merge_member(a->devices, "devices"), i, device) {
		ctl_add_ports(ports, device, a->diagnosis);
	}
	return json_pack("{sO* so}", "time", ctl_merge_member(a->diagnosis, "time"), "ports",
			 ports);
}

void ctl_name_pods(json_t *diagnosis, const json_t *ports)
{
	json_t *port;
	size_t i;

	json_array_foreach (json_object_get(diagnosis, "ports"), i, port) {
		const json_t *named = port_among(ctl_merge_member(ports, "ports"), port);

		json_object_set_new(port, "namespace", copy_of(named, "namespace"));
		json_object_set_new(port, "pod", copy_of(named, "pod"));
	}
}

/* --- resources -------------------------------------------------------------------------------- */

static bool is_free_as(const json_t *entry, const char *resource)
{
	const char *name = ctl_merge_text_of(entry, "resource");
	const char *state = ctl_merge_text_of(entry, "state");

	return name && state && strcmp(name, resource) == 0 && strcmp(state, "free") == 0 &&
	       json_is_true(ctl_merge_member(entry, "healthy"));
}

/* Healthy devices that nobody has. */
static json_int_t count_free(const json_t *devices, const char *resource)
{
	json_t *device, *entry;
	json_int_t n = 0;
	size_t i, k;

	json_array_foreach ((json_t *)devices, i, device) {
		json_array_foreach (ctl_merge_member(device, "resources"), k, entry) {
			n += is_free_as(entry, resource);
		}
	}
	return n;
}

/* Slots of a shared resource: no more than the GID tables have room for. */
static json_int_t free_slots(const json_t *resource)
{
	json_int_t n = json_integer_value(ctl_merge_member(resource, "healthy"));
	const json_t *room = ctl_merge_member(resource, "gidCapacity");

	if (json_is_integer(room) && json_integer_value(room) < n)
		n = json_integer_value(room);
	n -= json_integer_value(ctl_merge_member(resource, "allocated"));
	return n > 0 ? n : 0;
}

static json_t *free_of(const json_t *devices, const json_t *resource)
{
	const char *name = ctl_merge_text_of(resource, "name");

	if (!name || !json_is_integer(ctl_merge_member(resource, "healthy")))
		return json_null();
	return json_integer(json_is_true(ctl_merge_member(resource, "shared"))
				    ? free_slots(resource)
				    : count_free(devices, name));
}

void ctl_add_free(json_t *devices)
{
	json_t *resource;
	size_t i;

	json_array_foreach (json_object_get(devices, "resources"), i, resource) {
		json_object_set_new(resource, "free",
				    free_of(ctl_merge_member(devices, "devices"), resource));
	}
}

/* --- status ----------------------------------------------------------------------------------- */

/* Number of objects by their word at `key`, {"pf":8,...}; null if there is no list. */
static json_t *count_by(const json_t *list, const char *key)
{
	json_t *counts = json_is_array(list) ? json_object() : json_null(), *object;
	size_t i;

	json_array_foreach ((json_t *)list, i, object) {
		const char *word = ctl_merge_text_of(object, key);
		json_int_t n = word ? json_integer_value(ctl_merge_member(counts, word)) : 0;

		if (word)
			json_object_set_new(counts, word, json_integer(n + 1));
	}
	return counts;
}

static json_t *ctl_count_of(const json_t *list)
{
	return json_is_array(list) ? json_integer((json_int_t)json_array_size(list)) : json_null();
}

/* The lines of /readyz, without the "ok" of a ready daemon. */
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

json_t *ctl_readiness(const struct ctl_answers *a)
{
	return json_pack("{sb so}", "ready", a->ready, "remarks", remarks_of(a));
}

bool ctl_is_bad_resource(const json_t *r)
{
	const char *registration = ctl_merge_text_of(r, "registration");

	return (registration && strcmp(registration, "registered") != 0) ||
	       json_integer_value(ctl_merge_member(r, "healthy")) <
		       json_integer_value(ctl_merge_member(r, "devices"));
}

static bool any_bad_resource(const json_t *resources)
{
	json_t *resource;
	size_t i;

	json_array_foreach ((json_t *)resources, i, resource) {
		if (ctl_is_bad_resource(resource))
			return true;
	}
	return false;
}

static bool is_well(const struct ctl_answers *a)
{
	return a->ready && a->devices && a->doctor &&
	       json_array_size(ctl_merge_member(a->doctor, "findings")) == 0 &&
	       !any_bad_resource(ctl_merge_member(a->devices, "resources")) &&
	       ctl_diagnosis_level(a->diagnosis) < CTL_LEVEL_WARNING;
}

/* Ports whose link is down while a pod holds them, and that have no verdict: with their pods. */
static json_t *lost_ports(const struct ctl_answers *a)
{
	json_t *ports = ctl_ports(a), *lost = a->diagnosis ? json_array() : json_null(), *port;
	size_t i;

	json_array_foreach (ctl_merge_member(ports, "ports"), i, port) {
		const json_t *watched = watched_port(a->diagnosis, port);

		if (ctl_diagnosis_is_lost(watched) &&
		    !json_is_string(ctl_merge_member(port, "severity")))
			json_array_append_new(
				lost,
				json_pack("{so so so sb so so}", "device", copy_of(port, "device"),
					  "port", copy_of(port, "port"), "watch",
					  copy_of(port, "watch"), "held", 1, "namespace",
					  copy_of(port, "namespace"), "pod", copy_of(port, "pod")));
	}
	json_decref(ports);
	return lost;
}

json_t *ctl_status(const struct ctl_answers *a)
{
	return json_pack(
		"{so so so so sb sb so so so so so so so so so}", "node", copy_of(a->index, "node"),
		"version", copy_of(a->index, "version"), "started", copy_of(a->index, "started"),
		"upSeconds", copy_of(a->index, "upSeconds"), "well", is_well(a), "ready", a->ready,
		"remarks", remarks_of(a), "devices",
		count_by(ctl_merge_member(a->devices, "devices"), "kind"), "resources",
		copy_of(a->devices, "resources"), "pods",
		ctl_count_of(ctl_merge_member(a->pods, "pods")), "attachments",
		count_by(ctl_merge_member(a->attachments, "attachments"), "state"), "ports",
		count_by(ctl_merge_member(a->diagnosis, "ports"), "watch"), "podPortsDown",
		lost_ports(a), "verdicts", copy_of(a->diagnosis, "verdicts"), "findings",
		copy_of(a->doctor, "findings"));
}
