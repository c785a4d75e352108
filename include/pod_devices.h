/* pod_devices.h - which container holds which device, as the kubelet tells it. Plain data.
 *
 * A node may have a thousand devices, and their holders are kept at several places: an entry points
 * to its texts, and neighbours that say the same share them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugin.h"

/* One device of one container. Namespace, pod and container names are DNS labels or names; "" =
 * unknown (the kubelet's checkpoint knows the pod's uid only, PodResources does not know the uid).
 * Inside a list no text is NULL. */
struct pod_device {
	const char *namespace, *pod, *container, *uid;
	const char *resource, *id; /* fit RESOURCE_NAME_SIZE and PLUGIN_ID_SIZE */
	/* In loop time, and only reservations tell them: of the Allocate that gave the device away
	 * last, before which its pod had no sandbox (0 = unknown); and since when a container with
	 * it waits to be started, when its pod has one (0 = none does). */
	uint64_t reserved_ms, start_ms;
	/* Only an earlier kubelet has named it. The one that is asked now does not, but may not
	 * have learnt all its pods yet. */
	bool doubted;
};

enum pod_source { POD_SOURCE_NONE, POD_SOURCE_API, POD_SOURCE_CHECKPOINT };

struct pod_text;

/* Sorted by (resource, id, namespace, pod, container). Owns its array and the texts;
 * zero-initialised it is the empty list. */
struct pod_list {
	struct pod_device *devices;
	size_t n;
	enum pod_source source;
	/* Loop time at which the kubelet was asked for it: of a pod that was made later it knows
	 * nothing. 0 = unknown. */
	uint64_t asked_ms;
	struct pod_text *texts;
};

void pod_list_done(struct pod_list *);
/* The list's own copy of a text, for its entries; NULL: out of memory. */
const char *pod_list_text(struct pod_list *, const char *text);
/* Appends a copy, to be sorted by the caller; NULL texts are "". -ENOMEM changes nothing. */
int pod_list_push(struct pod_list *, const struct pod_device *);
/* Into an empty list; -ENOMEM leaves it empty. */
int pod_list_copy(struct pod_list *dst, const struct pod_list *src);
void pod_list_sort(struct pod_list *);
/* Takes out every entry of the device. */
void pod_list_remove(struct pod_list *, const char *resource, const char *id);
/* Same devices in the same containers, as doubted, whatever the times are. Both sorted. */
bool pod_list_equal(const struct pod_list *, const struct pod_list *);
/* Another kubelet is asked from now on: everything is doubted. */
void pod_list_doubt(struct pod_list *);
/* What the other kubelet says, completed: a doubted device that it names for nobody stays with whom
 * it was. Both sorted. Returns how many are doubted still; -ENOMEM. */
int pod_list_add_doubted(struct pod_list *, const struct pod_list *before);
/* First entry of a device or NULL; borrowed. *ret_n (may be NULL): how many containers hold it. */
const struct pod_device *pod_list_find(const struct pod_list *, const char *resource,
				       const char *id, size_t *ret_n);
/* The same for who asks in the list's order, which then costs a step or two: *at follows, from 0.
 * Any other order is as good as pod_list_find(). */
const struct pod_device *pod_list_find_next(const struct pod_list *, const char *resource,
					    const char *id, size_t *at);
