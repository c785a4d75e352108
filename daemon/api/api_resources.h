/* api_resources.h - what is offered to the kubelet, as JSON. Pure. */
#pragma once

#include <jansson.h>

#include "attach_status.h"
#include "resource_table.h"

/* The resources that offer a function:
 * [{"resource":"rocelet.dev/roce","id":"0000:03:00.2","shared":false,
 * "healthy":true,"reasons":[],"state":"free","holder":null}]; of a shared resource id, health and
 * state are null. */
json_t *api_resources_of(const struct resource_index *, const char *function);
/* Why none does: a sentence or null. */
json_t *api_why_not(const struct resource_index *, const char *function);
/* All of them:
 * [{"name":...,"shared":false,"devices":8,"healthy":7,"allocated":2,"registration":"registered",
 * "error":null,"hint":null,...}]; hint: why it has no devices. */
json_t *api_resources(const struct resource_table *);

/* The document of /api/v1/resources: {"generation":3,"resources":[...]} as api_resources() has
 * them; heap, terminated, NULL when out of memory. NULL as the table: nothing is configured. */
char *api_resources_document(const struct resource_table *, size_t *ret_len);

/* The document of /api/v1/pods: pods in order of namespace and name, each with its containers and
 * their devices; heap, terminated, NULL when out of memory.
 * {"generation":3,"source":"api","pods":[{"namespace":"default","name":"train-7","uid":null,
 * "containers":[{"name":"main","devices":[{"resource":"rocelet.dev/roce","id":"0000:03:00.2",
 * "attachment":...}]}]}]}
 * attachment is api_attachments.h's. */
char *api_pods(const struct resource_table *, struct attach_list, uint64_t epoch_ms,
	       size_t *ret_len);
