// SPDX-License-Identifier: Apache-2.0
/* plugin_wire_decode.c - decodes bytes; a request keeps the structs made by protobuf-c. Pure. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "deviceplugin.pb-c.h"
#include "plugin_wire.h"
#include "pluginregistration.pb-c.h"
#include "proto_budget.h"
#include "utf8.h"

enum request_kind { REQUEST_ALLOCATE, REQUEST_PRE_START, REQUEST_PREFERRED };

struct wire_request {
	enum request_kind kind;
	struct proto_budget budget;
	union {
		ProtobufCMessage *any;
		V1beta1__AllocateRequest *allocate;
		V1beta1__PreStartContainerRequest *pre_start;
		V1beta1__PreferredAllocationRequest *preferred;
	};
};

/* On failure returns NULL and sets *ret_code. */
static struct wire_request *decode(enum request_kind kind, const ProtobufCMessageDescriptor *type,
				   const uint8_t *bytes, size_t len, int *ret_code)
{
	struct wire_request *q = calloc(1, sizeof(*q));

	*ret_code = -ENOMEM;
	if (!q)
		return NULL;
	q->kind = kind;
	q->any = proto_decode(&q->budget, type, bytes, len, ret_code);
	if (q->any)
		return q;
	free(q);
	return NULL;
}

int wire_decode_allocate(struct wire_request **ret, const uint8_t *bytes, size_t len)
{
	int code;
	struct wire_request *q = decode(REQUEST_ALLOCATE, &v1beta1__allocate_request__descriptor,
					bytes, len, &code);

	if (!q)
		return code;
	*ret = q;
	return 0;
}

int wire_decode_pre_start(struct wire_request **ret, const uint8_t *bytes, size_t len)
{
	int code;
	struct wire_request *q = decode(REQUEST_PRE_START,
					&v1beta1__pre_start_container_request__descriptor, bytes,
					len, &code);

	if (!q)
		return code;
	*ret = q;
	return 0;
}

int wire_decode_preferred(struct wire_request **ret, const uint8_t *bytes, size_t len)
{
	int code;
	struct wire_request *q = decode(REQUEST_PREFERRED,
					&v1beta1__preferred_allocation_request__descriptor, bytes,
					len, &code);

	if (!q)
		return code;
	for (size_t i = 0; i < q->preferred->n_container_requests; i++)
		if (q->preferred->container_requests[i]->allocation_size < 0) {
			wire_request_free(q);
			return -EBADMSG;
		}
	*ret = q;
	return 0;
}

size_t wire_request_n(const struct wire_request *q)
{
	switch (q->kind) {
	case REQUEST_ALLOCATE:
		return q->allocate->n_container_requests;
	case REQUEST_PRE_START:
		return 1;
	case REQUEST_PREFERRED:
		return q->preferred->n_container_requests;
	}
	return 0;
}

static struct id_list ids_of(char **ids, size_t n)
{
	return (struct id_list){(const char *const *)ids, n};
}

struct id_list wire_request_ids(const struct wire_request *q, size_t container)
{
	const V1beta1__ContainerAllocateRequest *c;

	if (container >= wire_request_n(q))
		return (struct id_list){0};
	switch (q->kind) {
	case REQUEST_ALLOCATE:
		c = q->allocate->container_requests[container];
		return ids_of(c->devices_ids, c->n_devices_ids);
	case REQUEST_PRE_START:
		return ids_of(q->pre_start->devices_ids, q->pre_start->n_devices_ids);
	case REQUEST_PREFERRED:
		return wire_request_preference(q, container).available;
	}
	return (struct id_list){0};
}

struct preference_request wire_request_preference(const struct wire_request *q, size_t container)
{
	const V1beta1__ContainerPreferredAllocationRequest *c;

	if (q->kind != REQUEST_PREFERRED || container >= wire_request_n(q))
		return (struct preference_request){.size = 0};
	c = q->preferred->container_requests[container];
	return (struct preference_request){
		.available = ids_of(c->available_deviceids, c->n_available_deviceids),
		.must_include = ids_of(c->must_include_deviceids, c->n_must_include_deviceids),
		.size = (size_t)c->allocation_size,
	};
}

void wire_request_free(struct wire_request *q)
{
	if (!q)
		return;
	protobuf_c_message_free_unpacked(q->any, &q->budget.allocator);
	free(q);
}

/* Copies as many whole characters as fit; invalid bytes and those that could break a log line
 * become '?'. */
static void wire_copy_text(char *to, size_t size, const char *from)
{
	size_t used = 0;

	while (*from && used + 1 < size) {
		size_t n = utf8_char(from);

		if (n + used >= size)
			break;
		if (n == 0 || (unsigned char)*from < ' ' || *from == 0x7f) {
			to[used++] = '?';
			from++;
			continue;
		}
		memcpy(to + used, from, n);
		used += n;
		from += n;
	}
	to[used] = '\0';
}

int wire_decode_registration_status(bool *ret_registered, char *text, size_t size,
				    const uint8_t *bytes, size_t len)
{
	struct proto_budget budget;
	int code = 0;
	ProtobufCMessage *any = proto_decode(
		&budget, &pluginregistration__registration_status__descriptor, bytes, len, &code);
	Pluginregistration__RegistrationStatus *m = (void *)any;

	if (!any)
		return code;
	*ret_registered = m->plugin_registered;
	if (size > 0)
		wire_copy_text(text, size, m->error);
	protobuf_c_message_free_unpacked(any, &budget.allocator);
	return 0;
}
