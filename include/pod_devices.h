/* SPDX-License-Identifier: Apache-2.0 */
/* pod_devices.h - the devices allocated to containers, according to the kubelet. Plain data.
 *
 * A node may have a thousand devices, and the daemon keeps several lists. To save memory, entries
 * point to their strings, and adjacent entries share equal ones. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugin.h"

/* One device of one container. Namespace, pod and container names are DNS labels or names; "" =
 * unknown (the kubelet's checkpoint has only the pod's uid, PodResources has no uid). Inside a list
 * no string is NULL. */
struct pod_device {
	const char *namespace, *pod, *container, *uid;
	const char *resource, *id; /* fit RESOURCE_NAME_SIZE and PLUGIN_ID_SIZE */
	/* Loop times, set only for reservations. reserved_ms: time of the last Allocate of the
	 * device; the pod's sandbox is created after it (0 = unknown). start_ms: since when a
	 * container with the device waits to be started in its pod's sandbox (0 = none waits). */
	uint64_t reserved_ms, start_ms;
	/* Reported by a previous kubelet but not by the current one, which may not know all its
	 * pods yet. */
	bool stale;
};

enum pod_source { POD_SOURCE_NONE, POD_SOURCE_API, POD_SOURCE_CHECKPOINT };

struct pod_text;

/* Sorted by (resource, id, namespace, pod, container). Owns its array and the strings;
 * zero-initialised it is the empty list. */
struct pod_list {
	struct pod_device *devices;
	size_t n;
	enum pod_source source;
	/* Loop time of the request to the kubelet: pods created later are not in the list. 0 =
	 * unknown. */
	uint64_t asked_ms;
	struct pod_text *texts;
};

void pod_list_done(struct pod_list *);
/* Returns the list's own copy of a string, for its entries; NULL: out of memory. */
const char *pod_list_text(struct pod_list *, const char *text);
/* Appends a copy; the caller sorts the list. NULL strings become "". -ENOMEM changes nothing. */
int pod_list_push(struct pod_list *, const struct pod_device *);
/* Copies a list; dst must be empty; -ENOMEM leaves it empty. */
int pod_list_copy(struct pod_list *dst, const struct pod_list *src);
void pod_list_sort(struct pod_list *);
/* Removes every entry of the device. */
void pod_list_remove(struct pod_list *, const char *resource, const char *id);
/* Compares devices, containers and stale flags; ignores times. Both sorted. */
bool pod_list_equal(const struct pod_list *, const struct pod_list *);
/* Marks all entries as stale: another kubelet answers from now on. */
void pod_list_mark_stale(struct pod_list *);
/* Adds to the new kubelet's list the stale entries of `before` whose devices it does not list.
 * Both sorted. Returns the number of stale entries, or -ENOMEM. */
int pod_list_add_stale(struct pod_list *, const struct pod_list *before);
/* Returns the first entry of a device or NULL; borrowed. *ret_n (may be NULL): number of containers
 * that have the device. */
const struct pod_device *pod_list_find(const struct pod_list *, const char *resource,
				       const char *id, size_t *ret_n);
/* Returns an entry of the device under another resource, which names a pod; NULL: none. Device
 * plugins do not know each other, so the kubelet may allocate a function to two pods. */
const struct pod_device *pod_list_find_other(const struct pod_list *, const char *resource,
					     const char *id);
/* Like pod_list_find(), but cheap when called in the list's order: *at is the cursor, 0 at first.
 * In another order it costs as much as pod_list_find(). */
const struct pod_device *pod_list_find_next(const struct pod_list *, const char *resource,
					    const char *id, size_t *at);
