// SPDX-License-Identifier: Apache-2.0
/* cri_wire.c - encodes requests; decodes the version, the list, one sandbox's details, and events.
 */
#include "cri_wire.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "containerd.pb-c.h"
#include "cri.pb-c.h"
#include "json_text.h"
#include "proto_budget.h"
#include "utf8.h"

/* containerd sends task events for sandboxes, with and without a sandbox controller, so the filter
 * has their topics. tasks/exit also reports processes executed in a container; the caller must
 * check the ID. containerd 1.7 and 2.0 have no slash at the start of sandbox topics. */
#define FILTER                                                                                     \
	"namespace==k8s.io,"                                                                       \
	"topic~=\"^/?(tasks/(start|exit|delete)|containers/delete|sandboxes/(start|exit))$\""

static int cri_message_pack(uint8_t **ret, size_t *ret_len, const ProtobufCMessage *m)
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
	return cri_message_pack(ret, ret_len, &m.base);
}

int cri_subscribe_encode(uint8_t **ret, size_t *ret_len)
{
	Containerd__SubscribeRequest m = CONTAINERD__SUBSCRIBE_REQUEST__INIT;
	char filter[] = FILTER, *filters[] = {filter};

	m.filters = filters;
	m.n_filters = 1;
	return cri_message_pack(ret, ret_len, &m.base);
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

static int cri_add_all(struct sandbox_list *l, size_t *left_out,
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
	r = cri_add_all(&l, &left_out, (Runtime__V1__ListPodSandboxResponse *)m);
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

/* --- JSON: the network namespace, which CRI does not report ----------------------------------- */

static bool take_path(char ret[SANDBOX_NETNS_SIZE], const json_t *path)
{
	const char *text = json_string_value(path);

	if (!text || text[0] != '/' || strlen(text) >= SANDBOX_NETNS_SIZE)
		return false;
	memcpy(ret, text, strlen(text) + 1);
	return true;
}

/* Finds a namespace in the list of the OCI specification; NULL = absent. */
static const json_t *namespace_of(const json_t *namespaces, const char *wanted)
{
	const json_t *ns;
	size_t i;

	json_array_foreach (namespaces, i, ns) {
		const char *type = json_string_value(json_object_get(ns, "type"));

		if (type && strcmp(type, wanted) == 0)
			return ns;
	}
	return NULL;
}

static void find_namespaces(struct cri_namespaces *ret, const json_t *info)
{
	const json_t *spec = json_object_get(info, "runtimeSpec");
	const json_t *list = json_object_get(json_object_get(spec, "linux"), "namespaces");
	const json_t *network = namespace_of(list, "network");
	const json_t *meta = json_object_get(json_object_get(info, "sandboxMetadata"), "Metadata");

	ret->user = namespace_of(list, "user") != NULL;
	if (!take_path(ret->netns, json_object_get(network, "path")) &&
	    !take_path(ret->netns, json_object_get(meta, "NetNSPath")))
		ret->host_network = json_array_size(list) > 0 && !network;
}

int cri_info_namespaces(struct cri_namespaces *ret, const char *text, size_t len)
{
	json_t *info;

	if (len > CRI_INFO_MAX)
		return -EMSGSIZE;
	info = json_text_load(text, len, 0, NULL);
	if (!json_is_object(info)) {
		json_decref(info);
		return -EBADMSG;
	}
	*ret = (struct cri_namespaces){.user = false};
	find_namespaces(ret, info);
	json_decref(info);
	return 0;
}

/* --- one sandbox's details -------------------------------------------------------------------- */

/* Returns the namespace options; NULL: absent. */
static const Runtime__V1__NamespaceOption *options_of(const Runtime__V1__PodSandboxStatus *s)
{
	return s->linux_status && s->linux_status->namespaces ? s->linux_status->namespaces->options
							      : NULL;
}

static bool is_node_network(const Runtime__V1__NamespaceOption *o)
{
	return o && o->network == RUNTIME__V1__NAMESPACE_MODE__NODE;
}

/* True if the pod has its own user namespace. Without options it uses the host's. */
static bool is_pod_users(const Runtime__V1__NamespaceOption *o)
{
	return o && o->userns_options &&
	       o->userns_options->mode == RUNTIME__V1__NAMESPACE_MODE__POD;
}

static int take_networks(char **ret, const Runtime__V1__PodSandboxStatus *s)
{
	const char *text = NULL;

	for (size_t i = 0; i < s->n_annotations; i++)
		if (strcmp(s->annotations[i]->key, CRI_NETWORKS) == 0)
			text = s->annotations[i]->value;
	if (!text)
		return 0;
	*ret = strndup(text, SANDBOX_NETWORKS_MAX + 1);
	return *ret ? 0 : -ENOMEM;
}

/* Reads the namespaces from the runtime's JSON. It is no error if the runtime sends none. */
static int take_info(struct cri_detail *d, const Runtime__V1__PodSandboxStatusResponse *m)
{
	struct cri_namespaces namespaces = {.user = false};
	const char *text = NULL;
	int r;

	for (size_t i = 0; i < m->n_info; i++)
		if (strcmp(m->info[i]->key, "info") == 0)
			text = m->info[i]->value;
	if (!text || !text[0])
		return 0;
	r = cri_info_namespaces(&namespaces, text, strlen(text));
	memcpy(d->netns, namespaces.netns, sizeof(d->netns));
	d->host_network = namespaces.host_network;
	d->user_namespace = namespaces.user;
	return r;
}

static int take_details(struct cri_detail *d, const Runtime__V1__PodSandboxStatusResponse *m)
{
	int r;

	if (!m->status)
		return -ENODATA;
	r = take_info(d, m);
	d->host_network |= is_node_network(options_of(m->status));
	d->user_namespace |= is_pod_users(options_of(m->status));
	if (d->host_network)
		d->netns[0] = '\0';
	return r < 0 ? r : take_networks(&d->networks, m->status);
}

int cri_status_decode(struct cri_detail *ret, const uint8_t *bytes, size_t len)
{
	struct proto_budget budget;
	struct cri_detail d = {0};
	int r = 0;
	ProtobufCMessage *m = proto_decode(
		&budget, &runtime__v1__pod_sandbox_status_response__descriptor, bytes, len, &r);

	if (!m)
		return r;
	r = take_details(&d, (Runtime__V1__PodSandboxStatusResponse *)m);
	protobuf_c_message_free_unpacked(m, &budget.allocator);
	if (r == 0)
		*ret = d;
	return r;
}

/* --- events ---------------------------------------------------------------------------------- */

static enum cri_event_kind kind_of_topic(const char *topic)
{
	static const struct {
		const char *topic;
		enum cri_event_kind kind;
	} kinds[] = {
		{"tasks/start", CRI_EVENT_BEGINS},  {"sandboxes/start", CRI_EVENT_BEGINS},
		{"tasks/exit", CRI_EVENT_ENDS},	    {"tasks/delete", CRI_EVENT_ENDS},
		{"sandboxes/exit", CRI_EVENT_ENDS}, {"containers/delete", CRI_EVENT_GONE},
	};

	topic += topic[0] == '/';
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strcmp(topic, kinds[i].topic) == 0)
			return kinds[i].kind;
	return CRI_EVENT_OTHER;
}

static int take_subject(struct cri_event *e, const Containerd__Any *any)
{
	struct proto_budget budget;
	Containerd__Subject *m;
	int r = 0;

	if (!any)
		return 0;
	m = (void *)proto_decode(&budget, &containerd__subject__descriptor, any->value.data,
				 any->value.len, &r);
	if (!m)
		return r;
	utf8_copy_name(e->id, sizeof(e->id), m->id);
	protobuf_c_message_free_unpacked(&m->base, &budget.allocator);
	return 0;
}

int cri_envelope_decode(struct cri_event *ret, const uint8_t *bytes, size_t len)
{
	struct cri_event e = {.kind = CRI_EVENT_OTHER};
	struct proto_budget budget;
	Containerd__Envelope *m;
	int r = 0;

	m = (void *)proto_decode(&budget, &containerd__envelope__descriptor, bytes, len, &r);
	if (!m)
		return r;
	e.kind = kind_of_topic(m->topic);
	if (e.kind != CRI_EVENT_OTHER)
		r = take_subject(&e, m->event);
	protobuf_c_message_free_unpacked(&m->base, &budget.allocator);
	if (r == 0)
		*ret = e;
	return r;
}

static enum cri_event_kind kind_of_type(Runtime__V1__ContainerEventType type)
{
	switch ((int)type) {
	case RUNTIME__V1__CONTAINER_EVENT_TYPE__CONTAINER_CREATED_EVENT:
	case RUNTIME__V1__CONTAINER_EVENT_TYPE__CONTAINER_STARTED_EVENT:
		return CRI_EVENT_BEGINS;
	case RUNTIME__V1__CONTAINER_EVENT_TYPE__CONTAINER_STOPPED_EVENT:
		return CRI_EVENT_ENDS;
	case RUNTIME__V1__CONTAINER_EVENT_TYPE__CONTAINER_DELETED_EVENT:
		return CRI_EVENT_GONE;
	default: /* added by a newer runtime */
		return CRI_EVENT_OTHER;
	}
}

/* True if it is the event of a container in a sandbox. The event of a sandbox itself has the
 * sandbox's id in both fields, or no status if the sandbox was removed already. */
static bool is_container(const Runtime__V1__ContainerEventResponse *m)
{
	const Runtime__V1__PodSandboxStatus *s = m->pod_sandbox_status;

	return s && s->id[0] && strcmp(s->id, m->container_id) != 0;
}

int cri_event_decode(struct cri_event *ret, const uint8_t *bytes, size_t len)
{
	struct cri_event e = {.kind = CRI_EVENT_OTHER};
	struct proto_budget budget;
	Runtime__V1__ContainerEventResponse *m;
	int r = 0;

	m = (void *)proto_decode(&budget, &runtime__v1__container_event_response__descriptor, bytes,
				 len, &r);
	if (!m)
		return r;
	if (!is_container(m))
		e.kind = kind_of_type(m->container_event_type);
	utf8_copy_name(e.id, sizeof(e.id), m->container_id);
	protobuf_c_message_free_unpacked(&m->base, &budget.allocator);
	*ret = e;
	return 0;
}
