/* pod_devices.h - which container holds which device, as the kubelet tells it. Plain data. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugin.h"

/* One device of one container. Namespace, pod and container names are DNS labels or names; "" =
 * unknown (the kubelet's checkpoint knows the pod's uid only, PodResources does not know the uid).
 */
struct pod_device {
	char namespace[64];
	char pod[256];
	char container[64];
	char uid[40];
	char resource[RESOURCE_NAME_SIZE];
	char id[PLUGIN_ID_SIZE];
	/* Unix time of the Allocate that gave the device away last; 0 = unknown. Only the ledger
	 * tells it: what is older than that is not of the pod that it was given to. */
	int64_t reserved_ns;
};

enum pod_source { POD_SOURCE_NONE, POD_SOURCE_API, POD_SOURCE_CHECKPOINT };

/* Sorted by (resource, id, namespace, pod, container). Owns its array; zero-initialised it is the
 * empty list. */
struct pod_list {
	struct pod_device *devices;
	size_t n;
	enum pod_source source;
	/* Unix time at which the kubelet was asked for it: of a pod that was made later it knows
	 * nothing. 0 = unknown. */
	int64_t asked_ns;
};

void pod_list_done(struct pod_list *);
void pod_list_sort(struct pod_list *);
/* Same devices in the same containers, whatever the times are. Both sorted. */
bool pod_list_equal(const struct pod_list *, const struct pod_list *);
/* First entry of a device or NULL; borrowed. *ret_n (may be NULL): how many containers hold it. */
const struct pod_device *pod_list_find(const struct pod_list *, const char *resource,
				       const char *id, size_t *ret_n);
