/* pod_list_decode.c - the kubelet's PodResources answer: pods hold containers hold resources hold
 * device IDs, flattened. Pure. */
#include <errno.h>

#include "pod_list_build.h"
#include "pod_resources.h"
#include "podresources.pb-c.h"
#include "proto_budget.h"

static int add_container(struct pod_list *l, size_t *left_out, struct pod_device *e,
			 const V1__ContainerResources *c)
{
	int r = 0;

	e->container = c->name;
	for (size_t i = 0; i < c->n_devices; i++) {
		e->resource = c->devices[i]->resource_name;
		for (size_t k = 0; r == 0 && k < c->devices[i]->n_device_ids; k++) {
			e->id = c->devices[i]->device_ids[k];
			r = pod_list_add(l, left_out, e);
		}
	}
	return r;
}

static int add_all(struct pod_list *l, size_t *left_out, const V1__ListPodResourcesResponse *m)
{
	int r = 0;

	for (size_t i = 0; i < m->n_pod_resources; i++) {
		const V1__PodResources *pod = m->pod_resources[i];
		struct pod_device e = {.namespace = pod->namespace_, .pod = pod->name};

		for (size_t k = 0; r == 0 && k < pod->n_containers; k++)
			r = add_container(l, left_out, &e, pod->containers[k]);
	}
	return r;
}

int pod_resources_decode(struct pod_list *ret, size_t *ret_left_out, const uint8_t *bytes,
			 size_t len)
{
	struct proto_budget budget;
	struct pod_list l = {0};
	size_t left_out = 0;
	int r = 0;
	ProtobufCMessage *m = proto_decode(&budget, &v1__list_pod_resources_response__descriptor,
					   bytes, len, &r);

	if (!m)
		return r;
	r = add_all(&l, &left_out, (V1__ListPodResourcesResponse *)m);
	protobuf_c_message_free_unpacked(m, &budget.allocator);
	if (r < 0) {
		pod_list_done(&l);
		return r;
	}
	pod_list_finish(&l, POD_SOURCE_API);
	*ret = l;
	*ret_left_out = left_out;
	return 0;
}
