/* pod_entries.h - the entries of a list of devices, from either of the kubelet's sources. Pure; for
 * the files of this folder. */
#pragma once

#include "pod_devices.h"

/* A node has at most some hundred pods; a list above this is none. */
#define POD_LIST_MAX   16384
/* DNS labels and names (RFC 1123) with their ends, and a uid. */
#define POD_LABEL_SIZE 64
#define POD_NAME_SIZE  256
#define POD_UID_SIZE   40

/* Appends a copy; NULL texts are unknown. An entry with a name that no such thing can have (too
 * long, or no UTF-8 without control characters), or without resource or id, is counted instead.
 * -ENOMEM, -EMSGSIZE above POD_LIST_MAX. */
int pod_entries_add(struct pod_list *, size_t *left_out, const struct pod_device *);
/* Sorts, and drops what is there twice: a device of two NUMA nodes is listed under both. */
void pod_entries_finish(struct pod_list *, enum pod_source);
