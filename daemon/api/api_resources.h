/* SPDX-License-Identifier: Apache-2.0 */
/* api_resources.h - the resources offered to the kubelet and their allocations, as JSON. Pure. */
#pragma once

#include <jansson.h>

#include "api_filter.h"
#include "condition.h"

/* The resources that offer a function:
 * [{"resource":"rocelet.dev/roce","id":"0000:03:00.2","shared":false,
 * "healthy":true,"reasons":[],"unhealthySince":null,"orEarlier":false,"state":"free","holder":null}];
 * for a shared resource all but "resource" and "shared" are null. */
json_t *api_resources_of(const struct resource_index *, const char *function);
/* The reason why no resource offers the function, as a sentence; null if one does. */
json_t *api_why_not(const struct resource_index *, const char *function);
/* All resources:
 * [{"name":...,"shared":false,"devices":8,"healthy":7,"allocated":2,"registration":"registered",
 * "error":null,"hint":null,...}]; hint: the reason why it has no devices. */
json_t *api_resources(const struct resource_table *, const struct api_filter *);

/* The document of /api/v1/resources: {"generation":3,"resources":[...]}, the list as in
 * api_resources(). A NULL table has no resources. Heap, terminated; NULL if out of memory. */
char *api_resources_document(const struct resource_table *, const struct api_filter *,
			     size_t *ret_len);

/* The document of /api/v1/pods: pods in order of namespace and name, each with its containers and
 * their devices, and the condition of each; the sources have resources. Heap, terminated; NULL if
 * out of memory.
 * {"generation":3,"source":"api","pods":[{"namespace":"default","name":"train-7","uid":null,
 * "containers":[{"name":"main","devices":[{"resource":"rocelet.dev/roce","id":"0000:03:00.2",
 * "watch":"judged","health":"ok","troubles":[],"attachment":...}]}]}]}
 * The format of attachment is in api_attachments.h. */
char *api_pods(const struct condition_sources *, const struct api_filter *, size_t *ret_len);

/* "free", "reserved", "held" */
const char *reservation_name(enum reservation_state);
/* "waiting", "registered", "refused" */
const char *registration_name(enum registration_state);
