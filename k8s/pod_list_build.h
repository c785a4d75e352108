/* pod_list_build.h - what both sources of a pod_list share. Pure. */
#pragma once

#include "pod_devices.h"

/* A node has at most some hundred pods; a list above this is none, and would cost 13 MB. */
#define POD_LIST_MAX 16384

/* One device of one container; texts are borrowed. NULL fields are unknown. */
struct pod_entry {
	const char *namespace, *pod, *container, *uid, *resource, *id;
};

/* Appends. An entry that does not fit its fields, lacks resource or id, or is no text (UTF-8
 * without control characters) is counted instead. -ENOMEM, -EMSGSIZE above POD_LIST_MAX. */
int pod_list_add(struct pod_list *, size_t *left_out, const struct pod_entry *);
/* Sorts, and drops what is there twice: a device of two NUMA nodes is told under both. */
void pod_list_finish(struct pod_list *, enum pod_source);
