/* pod_list_build.h - what both sources of a pod_list share. Pure. */
#pragma once

#include "pod_devices.h"

/* A node has at most some hundred pods; a list above this is none. */
#define POD_LIST_MAX 16384

/* Appends a copy; NULL texts are unknown. An entry with a name that no such thing can have (too
 * long, or no UTF-8 without control characters), or without resource or id, is counted instead.
 * -ENOMEM, -EMSGSIZE above POD_LIST_MAX. */
int pod_list_add(struct pod_list *, size_t *left_out, const struct pod_device *);
/* Sorts, and drops what is there twice: a device of two NUMA nodes is told under both. */
void pod_list_finish(struct pod_list *, enum pod_source);
