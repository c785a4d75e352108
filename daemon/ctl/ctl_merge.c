// SPDX-License-Identifier: Apache-2.0
#include "ctl_merge.h"

#include <string.h>

#include "cleanup.h"
#include "ctl_show_diagnosis.h"
#include "json_text.h"
#include "listings.h"

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

/* The text at a path of the device that names its exclusive holder: pod, namespace or container.
 * New reference. */
static json_t *ctl_holder_of(const json_t *device, const char *path)
{
	AUTO_FREE char *text = listing_text(device, path);

	return json_text(text);
}

/* The MTU of the port's netdev; null if the netdev is not visible. */
static json_t *ctl_netdev_mtu(const json_t *device, const json_t *port)
{
	json_t *netdev;
	size_t i;

	json_array_foreach (ctl_merge_member(device, "netdevs"), i, netdev) {
		if (json_is_string(ctl_merge_member(port, "netdev")) &&
		    json_equal(ctl_merge_member(netdev, "name"), ctl_merge_member(port, "netdev")))
			return copy_of(netdev, "mtu");
	}
	return json_null();
}

static json_t *ctl_port_of(const json_t *device, const json_t *rdma, const json_t *port)
{
	return json_pack(
		"{so so so so so so so so so so so so so so so so so so so}", "nodeGuid",
		copy_of(rdma, "nodeGuid"), "device", copy_of(rdma, "name"), "port",
		copy_of(port, "port"), "netdev", copy_of(port, "netdev"), "function",
		copy_of(device, "id"), "kind", copy_of(device, "kind"), "parent",
		copy_of(device, "parent"), "vf", copy_of(device, "vf"), "driver",
		copy_of(rdma, "driver"), "state", copy_of(port, "state"), "linkLayer",
		copy_of(port, "linkLayer"), "rateBitsPerSecond", copy_of(port, "rateBitsPerSecond"),
		"activeMtu", copy_of(port, "activeMtu"), "namespace",
		ctl_holder_of(device, "attachment.namespace|resources.holder.namespace"), "pod",
		ctl_holder_of(device, "attachment.pod|resources.holder.pod"), "container",
		ctl_holder_of(device, "attachment.container|resources.holder.container"),
		"netdevMtu", ctl_netdev_mtu(device, port), "pfc",
		copy_of(ctl_merge_member(port, "settings"), "pfc"), "dscpTrusted",
		copy_of(ctl_merge_member(port, "settings"), "dscpTrusted"));
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

/* The device of a pod with this function; NULL: none. */
static const json_t *pod_device_of(const json_t *pods, const char *function)
{
	json_t *pod, *container, *device;
	size_t i, k, n;

	json_array_foreach (ctl_merge_member(pods, "pods"), i, pod) {
		json_array_foreach (ctl_merge_member(pod, "containers"), k, container) {
			json_array_foreach (ctl_merge_member(container, "devices"), n, device) {
				AUTO_FREE char *id = listing_text(device, "attachment.function|id");

				if (id && function && strcmp(id, function) == 0)
					return device;
			}
		}
	}
	return NULL;
}

/* Copies "watch", "health" and "troubles" from the daemon's documents: those of the port or, if it
 * is not watched, those of the device in its pod. */
static void ctl_add_health(json_t *port, const struct ctl_answers *a)
{
	static const char *const keys[] = {"watch", "health", "troubles"};
	const json_t *judged = port_among(ctl_merge_member(a->ports, "ports"), port);

	if (!judged)
		judged = pod_device_of(a->pods, ctl_merge_text_of(port, "function"));
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		json_object_set_new(port, keys[i], copy_of(judged, keys[i]));
}

static void ctl_add_ports(json_t *ports, const json_t *device, const struct ctl_answers *a)
{
	json_t *rdma, *port;
	size_t i, k;

	json_array_foreach (ctl_merge_member(device, "rdma"), i, rdma) {
		json_array_foreach (ctl_merge_member(rdma, "ports"), k, port) {
			json_t *made = ctl_port_of(device, rdma, port);

			ctl_add_health(made, a);
			json_array_append_new(ports, made);
		}
	}
}

json_t *ctl_ports(const struct ctl_answers *a)
{
	json_t *ports = json_array(), *device;
	size_t i;

	json_array_foreach (ctl_merge_member(a->devices, "devices"), i, device) {
		ctl_add_ports(ports, device, a);
	}
	return json_pack("{sO* so}", "time", ctl_merge_member(a->ports, "time"), "ports", ports);
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

static bool is_in_trouble(const json_t *pod)
{
	json_t *container, *device;
	size_t i, k;

	json_array_foreach (ctl_merge_member(pod, "containers"), i, container) {
		json_array_foreach (ctl_merge_member(container, "devices"), k, device) {
			const json_t *worst = json_array_get(ctl_merge_member(device, "troubles"),
							     0);

			if (json_integer_value(ctl_merge_member(worst, "level")) >=
			    CTL_LEVEL_WARNING)
				return true;
		}
	}
	return false;
}

/* The list of pods; NULL: it is unknown, because the kubelet has not reported the allocations. */
static const json_t *ctl_merge_known_pods(const struct ctl_answers *a)
{
	return json_is_null(ctl_merge_member(a->pods, "source"))
		       ? NULL
		       : ctl_merge_member(a->pods, "pods");
}

/* Number of pods with a device whose health is a warning or worse; null if there is no list. */
static json_t *count_in_trouble(const json_t *pods)
{
	json_int_t n = 0;
	json_t *pod;
	size_t i;

	if (!json_is_array(pods))
		return json_null();
	json_array_foreach ((json_t *)pods, i, pod) {
		n += is_in_trouble(pod);
	}
	return json_integer(n);
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

static bool is_healthy(const struct ctl_answers *a)
{
	return a->ready && a->devices && a->doctor &&
	       json_array_size(ctl_merge_member(a->doctor, "findings")) == 0 &&
	       !any_bad_resource(ctl_merge_member(a->devices, "resources")) &&
	       ctl_diagnosis_level(a->diagnosis) < CTL_LEVEL_WARNING;
}

/* True if neither a verdict nor the device's health explains that the link is down. */
static bool has_link_trouble(const json_t *port)
{
	json_t *trouble;
	size_t i;

	json_array_foreach (ctl_merge_member(port, "troubles"), i, trouble) {
		const char *kind = ctl_merge_text_of(trouble, "kind");

		if (kind && strcmp(kind, "link") == 0)
			return true;
	}
	return false;
}

/* Lists ports whose link is down while a pod has them, without another explanation. Each is listed
 * with its pod. */
static json_t *pod_ports_down(const struct ctl_answers *a)
{
	json_t *ports = ctl_ports(a), *down = a->diagnosis ? json_array() : json_null(), *port;
	size_t i;

	json_array_foreach (ctl_merge_member(ports, "ports"), i, port) {
		const json_t *watched = watched_port(a->diagnosis, port);

		if (ctl_diagnosis_is_pod_port_down(watched) && has_link_trouble(port))
			json_array_append_new(
				down,
				json_pack("{so so so sb so so}", "device", copy_of(port, "device"),
					  "port", copy_of(port, "port"), "watch",
					  copy_of(watched, "watch"), "held", 1, "namespace",
					  copy_of(port, "namespace"), "pod", copy_of(port, "pod")));
	}
	json_decref(ports);
	return down;
}

json_t *ctl_status(const struct ctl_answers *a)
{
	return json_pack(
		"{so so so so sb sb so so so so so so so so so so so so si so}", "node",
		copy_of(a->index, "node"), "version", copy_of(a->index, "version"), "started",
		copy_of(a->index, "started"), "upSeconds", copy_of(a->index, "upSeconds"), "well",
		is_healthy(a), "ready", a->ready, "remarks", remarks_of(a), "devices",
		count_by(ctl_merge_member(a->devices, "devices"), "kind"), "resources",
		copy_of(a->devices, "resources"), "pods", ctl_count_of(ctl_merge_known_pods(a)),
		"podsInTrouble", count_in_trouble(ctl_merge_known_pods(a)), "attachments",
		count_by(ctl_merge_member(a->attachments, "attachments"), "state"), "ports",
		count_by(ctl_merge_member(a->diagnosis, "ports"), "watch"), "podPortsDown",
		pod_ports_down(a), "verdicts", copy_of(a->diagnosis, "verdicts"), "troubles",
		copy_of(a->diagnosis, "troubles"), "findings", copy_of(a->doctor, "findings"),
		"time", copy_of(a->diagnosis, "time"), "undecidedCauses",
		(int)ctl_diagnosis_undecided(a->diagnosis), "ended",
		ctl_count_of(ctl_merge_member(a->diagnosis, "ended")));
}
