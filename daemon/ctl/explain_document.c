// SPDX-License-Identifier: Apache-2.0
#include "explain_document.h"

#include <string.h>

#include "cause.h"
#include "cleanup.h"
#include "listing.h"

static json_t *explain_copy(const json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	return value ? json_incref(value) : json_null();
}

/* The rank of a document's or a verdict's "nodeAction"; -1: it has none. */
static int explain_rank(const json_t *object)
{
	const char *name = json_string_value(json_object_get(object, "nodeAction"));

	for (int a = 0; name && a < N_NODE_ACTIONS; a++)
		if (strcmp(name, node_action_name((enum node_action)a)) == 0)
			return a;
	return -1;
}

static json_int_t explain_level(const json_t *problem)
{
	return json_integer_value(json_object_get(problem, "level"));
}

/* --- a device --------------------------------------------------------------------------------- */

const json_t *explain_strictest(const json_t *document)
{
	const json_t *most = NULL;
	json_t *verdict;
	size_t i;

	json_array_foreach (json_object_get(document, "verdicts"), i, verdict) {
		if (explain_rank(verdict) > explain_rank(most))
			most = verdict;
	}
	return most;
}

const json_t *explain_worst(const json_t *document)
{
	static const char *const lists[] = {"verdicts", "troubles"};
	const json_t *worst = NULL;
	json_t *problem;
	size_t i;

	for (size_t k = 0; k < ARRAY_SIZE(lists); k++)
		json_array_foreach (json_object_get(document, lists[k]), i, problem) {
			if (explain_level(problem) > explain_level(worst))
				worst = problem;
		}
	return worst;
}

/* What to do with the node because of these verdicts; null if they are unknown. */
static json_t *explain_action(const json_t *diagnosis)
{
	const json_t *most = explain_strictest(diagnosis);

	if (!diagnosis)
		return json_null();
	return most ? explain_copy(most, "nodeAction") : json_string(node_action_name(NODE_KEEP));
}

static json_t *explain_advice(const json_t *diagnosis)
{
	const json_t *worst = explain_worst(diagnosis);

	return explain_copy(worst, json_object_get(worst, "help") ? "help" : "advice");
}

/* True if this device of a container is the explained one, or a slot of it. */
static bool explain_is_device(const struct explain_answers *a, const json_t *device)
{
	const char *function = json_string_value(json_object_get(a->explain, "device"));
	AUTO_FREE char *id = listing_text(device, "attachment.function|id");
	const char *rdma = json_string_value(json_object_get(device, "rdma"));

	return (function && id && strcmp(id, function) == 0) ||
	       (rdma && listing_has(a->ports, "ports.device", rdma));
}

static bool explain_has_device(const struct explain_answers *a, const json_t *pod)
{
	json_t *container, *device;
	size_t i, k;

	json_array_foreach (json_object_get(pod, "containers"), i, container) {
		json_array_foreach (json_object_get(container, "devices"), k, device) {
			if (explain_is_device(a, device))
				return true;
		}
	}
	return false;
}

/* The pods that have the device; null if no source has reported the pods. */
static json_t *explain_pods(const struct explain_answers *a)
{
	json_t *list, *pod;
	size_t i;

	if (!json_is_string(json_object_get(a->pods, "source")))
		return json_null();
	list = json_array();
	json_array_foreach (json_object_get(a->pods, "pods"), i, pod) {
		if (explain_has_device(a, pod))
			json_array_append_new(list,
					      json_pack("{so so so}", "namespace",
							explain_copy(pod, "namespace"), "name",
							explain_copy(pod, "name"), "network",
							explain_copy(pod, "network")));
	}
	return list;
}

json_t *explain_of_device(const struct explain_answers *a)
{
	return json_pack("{so so so so so so so so}", "device", explain_copy(a->explain, "device"),
			 "why", explain_copy(a->explain, "why"), "attachment",
			 explain_copy(a->explain, "attachment"), "pods", explain_pods(a),
			 "nodeAction", explain_action(a->diagnosis), "advice",
			 explain_advice(a->diagnosis), "verdicts",
			 explain_copy(a->diagnosis, "verdicts"), "troubles",
			 explain_copy(a->diagnosis, "troubles"));
}

/* --- a pod ------------------------------------------------------------------------------------ */

json_t *explain_of_pod(const json_t *pod, json_t *devices)
{
	const json_t *worst = NULL, *strictest = NULL;
	json_t *device;
	size_t i;

	json_array_foreach (devices, i, device) {
		if (explain_level(explain_worst(device)) > explain_level(explain_worst(worst)))
			worst = device;
		if (explain_rank(device) > explain_rank(strictest))
			strictest = device;
	}
	return json_pack("{so so so so so so so}", "namespace", explain_copy(pod, "namespace"),
			 "name", explain_copy(pod, "name"), "uid", explain_copy(pod, "uid"),
			 "network", explain_copy(pod, "network"), "nodeAction",
			 explain_copy(strictest, "nodeAction"), "advice",
			 explain_copy(worst, "advice"), "devices", devices);
}
