/* cri_event.c - events of either kind: which sandbox or container, and what has become of it. Pure.
 */
#include <errno.h>
#include <string.h>

#include "cleanup.h"
#include "containerd.pb-c.h"
#include "cri.pb-c.h"
#include "cri_wire.h"
#include "proto_budget.h"
#include "utf8.h"

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
	default: /* of a newer runtime */
		return CRI_EVENT_OTHER;
	}
}

/* The event of a container in a sandbox. A sandbox's own bears its id twice, or no status at all
 * when it is gone already. */
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
