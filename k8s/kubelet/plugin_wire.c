// SPDX-License-Identifier: Apache-2.0
/* plugin_wire.c - encodes plain values through protobuf-c's structs, which point into the caller's
 * values and are kept in a scratch pad during the encoding. */
#include "plugin_wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "deviceplugin.pb-c.h"
#include "pluginregistration.pb-c.h"

/* The only version of the API; kubelets compare it literally. */
#define API_VERSION "v1beta1"

struct piece {
	struct piece *next;
	max_align_t memory[];
};

struct scratch {
	struct piece *pieces;
	bool failed; /* an allocation has failed: what was encoded is incomplete */
};

static void *scratch_alloc(struct scratch *s, size_t n, size_t size)
{
	struct piece *p = NULL;
	size_t bytes;

	if (!__builtin_mul_overflow(n, size, &bytes) &&
	    !__builtin_add_overflow(bytes, sizeof(*p), &bytes))
		p = calloc(1, bytes);
	if (!p) {
		s->failed = true;
		return NULL;
	}
	p->next = s->pieces;
	s->pieces = p;
	return p->memory;
}

/* Allocates repeated messages for protobuf-c: an array of pointers to n empty messages, which
 * follow it. *ret_n is 0 if out of memory. */
static void *repeated(struct scratch *s, const ProtobufCMessageDescriptor *type, size_t n,
		      size_t *ret_n)
{
	void **pointers = scratch_alloc(s, n, sizeof(*pointers) + type->sizeof_message);

	*ret_n = pointers ? n : 0;
	for (size_t i = 0; i < *ret_n; i++) {
		pointers[i] = (char *)(pointers + n) + i * type->sizeof_message;
		protobuf_c_message_init(type, pointers[i]);
	}
	return pointers;
}

static int plugin_message_pack(uint8_t **ret, size_t *ret_len, const ProtobufCMessage *m)
{
	size_t len = protobuf_c_message_get_packed_size(m);
	uint8_t *bytes = NULL;

	if (len > 0) {
		bytes = malloc(len);
		if (!bytes)
			return -ENOMEM;
		protobuf_c_message_pack(m, bytes);
	}
	*ret = bytes;
	*ret_len = len;
	return 0;
}

/* Encodes the message, and frees the scratch pad. */
static int scratch_pack(struct scratch *s, uint8_t **ret, size_t *ret_len,
			const ProtobufCMessage *m)
{
	int r = s->failed ? -ENOMEM : plugin_message_pack(ret, ret_len, m);

	while (s->pieces) {
		struct piece *next = s->pieces->next;

		free(s->pieces);
		s->pieces = next;
	}
	return r;
}

int wire_plugin_options(uint8_t **ret, size_t *ret_len, bool pre_start, bool preferred)
{
	V1beta1__DevicePluginOptions m = V1BETA1__DEVICE_PLUGIN_OPTIONS__INIT;

	m.pre_start_required = pre_start;
	m.get_preferred_allocation_available = preferred;
	return plugin_message_pack(ret, ret_len, &m.base);
}

int wire_register_request(uint8_t **ret, size_t *ret_len, const char *endpoint,
			  const char *resource, bool pre_start, bool preferred)
{
	V1beta1__DevicePluginOptions options = V1BETA1__DEVICE_PLUGIN_OPTIONS__INIT;
	V1beta1__RegisterRequest m = V1BETA1__REGISTER_REQUEST__INIT;

	options.pre_start_required = pre_start;
	options.get_preferred_allocation_available = preferred;
	m.version = (char *)API_VERSION;
	m.endpoint = (char *)endpoint;
	m.resource_name = (char *)resource;
	m.options = &options;
	return plugin_message_pack(ret, ret_len, &m.base);
}

int wire_plugin_info(uint8_t **ret, size_t *ret_len, const char *resource, const char *endpoint)
{
	static char *versions[] = {(char *)API_VERSION};
	Pluginregistration__PluginInfo m = PLUGINREGISTRATION__PLUGIN_INFO__INIT;

	m.type = (char *)"DevicePlugin";
	m.name = (char *)resource;
	m.endpoint = (char *)endpoint;
	m.supported_versions = versions;
	m.n_supported_versions = 1;
	return plugin_message_pack(ret, ret_len, &m.base);
}

/* A device with its NUMA node, if any. */
struct list_row {
	V1beta1__Device device;
	V1beta1__TopologyInfo topology;
	V1beta1__NUMANode node, *nodes[1];
};

static void fill_row(struct list_row *row, const struct plugin_device *d)
{
	v1beta1__device__init(&row->device);
	row->device.id = (char *)d->id;
	row->device.health = (char *)(d->healthy ? "Healthy" : "Unhealthy");
	if (d->numa < 0)
		return;
	v1beta1__numanode__init(&row->node);
	row->node.id = d->numa;
	row->nodes[0] = &row->node;
	v1beta1__topology_info__init(&row->topology);
	row->topology.nodes = row->nodes;
	row->topology.n_nodes = 1;
	row->device.topology = &row->topology;
}

int wire_device_list(uint8_t **ret, size_t *ret_len, const struct plugin_device *devices, size_t n)
{
	V1beta1__ListAndWatchResponse m = V1BETA1__LIST_AND_WATCH_RESPONSE__INIT;
	struct scratch s = {0};
	struct list_row *rows = scratch_alloc(&s, n, sizeof(*rows));

	m.devices = scratch_alloc(&s, n, sizeof(V1beta1__Device *));
	for (m.n_devices = 0; !s.failed && m.n_devices < n; m.n_devices++) {
		fill_row(&rows[m.n_devices], &devices[m.n_devices]);
		m.devices[m.n_devices] = &rows[m.n_devices].device;
	}
	return scratch_pack(&s, ret, ret_len, &m.base);
}

static void fill_envs(struct scratch *s, V1beta1__ContainerAllocateResponse *m,
		      const struct container_grant *g)
{
	m->envs = repeated(s, &v1beta1__container_allocate_response__envs_entry__descriptor,
			   g->n_envs, &m->n_envs);
	for (size_t i = 0; i < m->n_envs; i++) {
		m->envs[i]->key = g->envs[i].key;
		m->envs[i]->value = g->envs[i].value;
	}
}

static void fill_annotations(struct scratch *s, V1beta1__ContainerAllocateResponse *m,
			     const struct container_grant *g)
{
	m->annotations = repeated(
		s, &v1beta1__container_allocate_response__annotations_entry__descriptor,
		g->n_annotations, &m->n_annotations);
	for (size_t i = 0; i < m->n_annotations; i++) {
		m->annotations[i]->key = g->annotations[i].key;
		m->annotations[i]->value = g->annotations[i].value;
	}
}

static void fill_mounts(struct scratch *s, V1beta1__ContainerAllocateResponse *m,
			const struct container_grant *g)
{
	m->mounts = repeated(s, &v1beta1__mount__descriptor, g->n_mounts, &m->n_mounts);
	for (size_t i = 0; i < m->n_mounts; i++) {
		m->mounts[i]->container_path = g->mounts[i].container_path;
		m->mounts[i]->host_path = g->mounts[i].host_path;
		m->mounts[i]->read_only = g->mounts[i].read_only;
	}
}

static void fill_nodes(struct scratch *s, V1beta1__ContainerAllocateResponse *m,
		       const struct container_grant *g)
{
	m->devices = repeated(s, &v1beta1__device_spec__descriptor, g->n_nodes, &m->n_devices);
	for (size_t i = 0; i < m->n_devices; i++) {
		m->devices[i]->container_path = g->nodes[i].container_path;
		m->devices[i]->host_path = g->nodes[i].host_path;
		m->devices[i]->permissions = g->nodes[i].permissions;
	}
}

static void fill_cdi(struct scratch *s, V1beta1__ContainerAllocateResponse *m,
		     const struct container_grant *g)
{
	m->cdi_devices = repeated(s, &v1beta1__cdidevice__descriptor, g->n_cdi_devices,
				  &m->n_cdi_devices);
	for (size_t i = 0; i < m->n_cdi_devices; i++)
		m->cdi_devices[i]->name = g->cdi_devices[i];
}

int wire_allocate_response(uint8_t **ret, size_t *ret_len, const struct container_grant *grants,
			   size_t n)
{
	V1beta1__AllocateResponse m = V1BETA1__ALLOCATE_RESPONSE__INIT;
	struct scratch s = {0};

	m.container_responses = repeated(&s, &v1beta1__container_allocate_response__descriptor, n,
					 &m.n_container_responses);
	for (size_t i = 0; i < m.n_container_responses; i++) {
		fill_envs(&s, m.container_responses[i], &grants[i]);
		fill_mounts(&s, m.container_responses[i], &grants[i]);
		fill_nodes(&s, m.container_responses[i], &grants[i]);
		fill_annotations(&s, m.container_responses[i], &grants[i]);
		fill_cdi(&s, m.container_responses[i], &grants[i]);
	}
	return scratch_pack(&s, ret, ret_len, &m.base);
}

int wire_preferred_response(uint8_t **ret, size_t *ret_len, const struct id_list *lists, size_t n)
{
	V1beta1__PreferredAllocationResponse m = V1BETA1__PREFERRED_ALLOCATION_RESPONSE__INIT;
	struct scratch s = {0};

	m.container_responses = repeated(
		&s, &v1beta1__container_preferred_allocation_response__descriptor, n,
		&m.n_container_responses);
	for (size_t i = 0; i < m.n_container_responses; i++) {
		m.container_responses[i]->deviceids = (char **)lists[i].ids;
		m.container_responses[i]->n_deviceids = lists[i].n;
	}
	return scratch_pack(&s, ret, ret_len, &m.base);
}
