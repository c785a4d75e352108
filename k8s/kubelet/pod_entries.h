/* SPDX-License-Identifier: Apache-2.0 */
/* pod_entries.h - adds entries from the kubelet's API or checkpoint to a list of devices. Pure;
 * private to this folder. */
#pragma once

#include "pod_devices.h"

/* A node has at most a few hundred pods; a longer list is rejected. */
#define POD_LIST_MAX   16384
/* Sizes of DNS labels and names (RFC 1123) including the NUL, and of a uid. */
#define POD_LABEL_SIZE 64
#define POD_NAME_SIZE  256
#define POD_UID_SIZE   40

/* Appends a copy of an entry; NULL texts are unknown. An entry with an invalid name (too long, not
 * UTF-8, or with control characters), or without resource or id, is only counted. -ENOMEM,
 * -EMSGSIZE above POD_LIST_MAX. */
int pod_entries_add(struct pod_list *, size_t *left_out, const struct pod_device *);
/* Sorts the list and removes duplicates: the kubelet lists a device with two NUMA nodes under both.
 */
void pod_entries_finish(struct pod_list *, enum pod_source);
