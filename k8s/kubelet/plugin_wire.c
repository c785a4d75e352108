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
};

static void *scratch_alloc(struct scratch *s, size_t n, size_t size)
{
	struct piece *p;
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes) ||
	    __builtin_add_overflow(bytes, sizeof(*p), &bytes))
		return NULL;
	p = calloc(1, bytes);
	if (!p)
		return NULL;
	p->next = s->pieces;
	s->pieces = p;
	return p->memory;
}

static void scratch_done(struct scratch *s)
{
	while (s->pieces) {
		struct piece *next = s->pieces->next;

		free(s->pieces);
		s->pieces = next;
	}
}

/* Repeated messages for protobuf-c: an array of pointers to n structs, which follow it. NULL: out
 * of memory. */
#define repeated(scratch, type, n)                                                                 \
	({                                                                                         \
		size_t size_ = sizeof(void *) + sizeof(type);                                      \
		__typeof__(type) **pointers_ = scratch_alloc((scratch), (n), size_);               \
		for (size_t i_ = 0; pointers_ && i_ < (n); i_++)                                   \
			pointers_[i_] = (__typeof__(type) *)(pointers_ + (n)) + i_;                \
		pointers_;                                                                         \
	})

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
	int r = -ENOMEM;

	m.devices = scratch_alloc(&s, n, sizeof(V1beta1__Device *));
	if (rows && m.devices) {
		for (size_t i = 0; i < n; i++) {
			fill_row(&rows[i], &devices[i]);
			m.devices[i] = &rows[i].device;
		}
		m.n_devices = n;
		r = plugin_message_pack(ret, ret_len, &m.base);
	}
	scratch_done(&s);
	return r;
}

static int fill_envs(struct scratch *s, V1beta1__ContainerAllocateResponse *m,
		     const struct container_grant *g)
{
	m->envs = repeated(s, V1beta1__ContainerAllocateResponse__EnvsEntry, g->n_envs);
	if (!m->envs)
		return -ENOMEM;
	for (size_t i = 0; i < g->n_envs; i++) {
		v1beta1__container_allocate_response__envs_entry__init(m->envs[i]);
		m->envs[i]->key = g->envs[i].key;
		m->envs[i]->value = g->envs[i].value;
	}
	m->n_envs = g->n_envs;
	return 0;
}

static int fill_annotations(struct scratch *s, V1beta1__ContainerAllocateResponse *m,
			    const struct container_grant *g)
{
	m->annotations = repeated(s, V1beta1__ContainerAllocateResponse__AnnotationsEntry,
				  g->n_annotations);
	if (!m->annotations)
		return -ENOMEM;
	for (size_t i = 0; i < g->n_annotations; i++) {
		v1beta1__container_allocate_response__annotations_entry__init(m->annotations[i]);
		m->annotations[i]->key = g->annotations[i].key;
		m->annotations[i]->value = g->annotations[i].value;
	}
	m->n_annotations = g->n_annotations;
	return 0;
}

static int fill_mounts(struct scratch *s, V1beta1__ContainerAllocateResponse *m,
		       const struct container_grant *g)
{
	m->mounts = repeated(s, V1beta1__Mount, g->n_mounts);
	if (!m->mounts)
		return -ENOMEM;
	for (size_t i = 0; i < g->n_mounts; i++) {
		v1beta1__mount__init(m->mounts[i]);
		m->mounts[i]->container_path = g->mounts[i].container_path;
		m->mounts[i]->host_path = g->mounts[i].host_path;
		m->mounts[i]->read_only = g->mounts[i].read_only;
	}
	m->n_mounts = g->n_mounts;
	return 0;
}

static int fill_nodes(struct scratch *s, V1beta1__ContainerAllocateResponse *m,
		      const struct container_grant *g)
{
	m->devices = repeated(s, V1beta1__DeviceSpec, g->n_nodes);
	if (!m->devices)
		return -ENOMEM;
	for (size_t i = 0; i < g->n_nodes; i++) {
		v1beta1__device_spec__init(m->devices[i]);
		m->devices[i]->container_path = g->nodes[i].container_path;
		m->devices[i]->host_path = g->nodes[i].host_path;
		m->devices[i]->permissions = g->nodes[i].permissions;
	}
	m->n_devices = g->n_nodes;
	return 0;
}

static int fill_cdi(struct scratch *s, V1beta1__ContainerAllocateResponse *m,
		    const struct container_grant *g)
{
	m->cdi_devices = repeated(s, V1beta1__CDIDevice, g->n_cdi_devices);
	if (!m->cdi_devices)
		return -ENOMEM;
	for (size_t i = 0; i < g->n_cdi_devices; i++) {
		v1beta1__cdidevice__init(m->cdi_devices[i]);
		m->cdi_devices[i]->name = g->cdi_devices[i];
	}
	m->n_cdi_devices = g->n_cdi_devices;
	return 0;
}

static int fill_grant(struct scratch *s, V1beta1__ContainerAllocateResponse *m,
		      const struct container_grant *g)
{
	int r;

	v1beta1__container_allocate_response__init(m);
	r = fill_envs(s, m, g);
	if (r == 0)
		r = fill_mounts(s, m, g);
	if (r == 0)
		r = fill_nodes(s, m, g);
	if (r == 0)
		r = fill_annotations(s, m, g);
	return r == 0 ? fill_cdi(s, m, g) : r;
}

int wire_allocate_response(uint8_t **ret, size_t *ret_len, const struct container_grant *grants,
			   size_t n)
{
	V1beta1__AllocateResponse m = V1BETA1__ALLOCATE_RESPONSE__INIT;
	struct scratch s = {0};
	int r;

	m.container_responses = repeated(&s, V1beta1__ContainerAllocateResponse, n);
	m.n_container_responses = n;
	r = m.container_responses ? 0 : -ENOMEM;
	for (size_t i = 0; r == 0 && i < n; i++)
		r = fill_grant(&s, m.container_responses[i], &grants[i]);
	if (r == 0)
		r = plugin_message_pack(ret, ret_len, &m.base);
	scratch_done(&s);
	return r;
}

int wire_preferred_response(uint8_t **ret, size_t *ret_len, const struct id_list *lists, size_t n)
{
	V1beta1__PreferredAllocationResponse m = V1BETA1__PREFERRED_ALLOCATION_RESPONSE__INIT;
	struct scratch s = {0};
	int r = -ENOMEM;

	m.container_responses = repeated(&s, V1beta1__ContainerPreferredAllocationResponse, n);
	if (m.container_responses) {
		for (size_t i = 0; i < n; i++) {
			V1beta1__ContainerPreferredAllocationResponse *c = m.container_responses[i];

			v1beta1__container_preferred_allocation_response__init(c);
			c->deviceids = (char **)lists[i].ids;
			c->n_deviceids = lists[i].n;
		}
		m.n_container_responses = n;
		r = plugin_message_pack(ret, ret_len, &m.base);
	}
	scratch_done(&s);
	return r;
}
