/* cri_wire.c - the list and the version, and requests. */
#include "cri_wire.h"

#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "containerd.pb-c.h"
#include "cri.pb-c.h"
#include "proto_budget.h"
#include "utf8.h"

/* A sandbox is a container with a task, also where a sandbox has a controller of its own. The exit
 * of a process that somebody executed in a container comes under /tasks/exit, too. containerd 1.7
 * and 2.0 name the topics of sandboxes without a slash. */
#define FILTER                                                                                     \
	"namespace==k8s.io,"                                                                       \
	"topic~=\"^/?(tasks/(start|exit|delete)|containers/delete|sandboxes/(start|exit))$\""

static int pack(uint8_t **ret, size_t *ret_len, const ProtobufCMessage *m)
{
	size_t len = protobuf_c_message_get_packed_size(m);
	uint8_t *bytes = malloc(len + 1);

	if (!bytes)
		return -ENOMEM;
	protobuf_c_message_pack(m, bytes);
	*ret = bytes;
	*ret_len = len;
	return 0;
}

int cri_status_encode(uint8_t **ret, size_t *ret_len, const char *id)
{
	Runtime__V1__PodSandboxStatusRequest m = RUNTIME__V1__POD_SANDBOX_STATUS_REQUEST__INIT;

	m.pod_sandbox_id = (char *)(uintptr_t)id;
	m.verbose = true;
	return pack(ret, ret_len, &m.base);
}

int cri_subscribe_encode(uint8_t **ret, size_t *ret_len)
{
	Containerd__SubscribeRequest m = CONTAINERD__SUBSCRIBE_REQUEST__INIT;
	char filter[] = FILTER, *filters[] = {filter};

	m.filters = filters;
	m.n_filters = 1;
	return pack(ret, ret_len, &m.base);
}

int cri_version_decode(struct cri_version *ret, const uint8_t *bytes, size_t len)
{
	struct proto_budget budget;
	struct cri_version v = {0};
	Runtime__V1__VersionResponse *m;
	int r = 0;

	m = (void *)proto_decode(&budget, &runtime__v1__version_response__descriptor, bytes, len,
				 &r);
	if (!m)
		return r;
	utf8_copy_name(v.name, sizeof(v.name), m->runtime_name);
	utf8_copy_name(v.version, sizeof(v.version), m->runtime_version);
	protobuf_c_message_free_unpacked(&m->base, &budget.allocator);
	*ret = v;
	return 0;
}

/* --- the list -------------------------------------------------------------------------------- */

static bool copy_sandbox(struct sandbox *s, const Runtime__V1__PodSandbox *from)
{
	const Runtime__V1__PodSandboxMetadata *m = from->metadata;

	s->ready = from->state == RUNTIME__V1__POD_SANDBOX_STATE__SANDBOX_READY;
	s->created_ns = from->created_at > 0 ? from->created_at : 0;
	s->attempt = m ? m->attempt : 0;
	return m && utf8_copy_name(s->id, sizeof(s->id), from->id) && s->id[0] &&
	       utf8_copy_name(s->namespace, sizeof(s->namespace), m->namespace_) &&
	       utf8_copy_name(s->pod, sizeof(s->pod), m->name) &&
	       utf8_copy_name(s->uid, sizeof(s->uid), m->uid);
}

static int add_all(struct sandbox_list *l, size_t *left_out,
		   const Runtime__V1__ListPodSandboxResponse *m)
{
	if (m->n_items > CRI_LIST_MAX)
		return -EMSGSIZE;
	for (size_t i = 0; i < m->n_items; i++) {
		struct sandbox *s = array_push(l->items, l->n);

		if (!s)
			return -ENOMEM;
		if (!copy_sandbox(s, m->items[i])) {
			l->n--;
			(*left_out)++;
		}
	}
	return 0;
}

int cri_list_decode(struct sandbox_list *ret, size_t *ret_left_out, const uint8_t *bytes,
		    size_t len)
{
	struct proto_budget budget;
	struct sandbox_list l = {.known = true};
	size_t left_out = 0;
	int r = 0;
	ProtobufCMessage *m = proto_decode(
		&budget, &runtime__v1__list_pod_sandbox_response__descriptor, bytes, len, &r);

	if (!m)
		return r;
	r = add_all(&l, &left_out, (Runtime__V1__ListPodSandboxResponse *)m);
	protobuf_c_message_free_unpacked(m, &budget.allocator);
	if (r < 0) {
		sandbox_list_done(&l);
		return r;
	}
	sandbox_list_sort(&l);
	*ret = l;
	*ret_left_out = left_out;
	return 0;
}
