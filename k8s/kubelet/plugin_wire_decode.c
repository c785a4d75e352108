// SPDX-License-Identifier: Apache-2.0
/* plugin_wire_decode.c - decodes and checks requests. A request keeps the structs made by
 * protobuf-c, because its ID lists point into them. Pure. */
#include "plugin_wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "deviceplugin.pb-c.h"
#include "pluginregistration.pb-c.h"
#include "proto_budget.h"
#include "utf8.h"

static bool plugin_request_is_id(const char *id)
{
	size_t len = 0, n;

	while (len < PLUGIN_ID_SIZE && (n = utf8_char(id + len)) > 0)
		len += n;
	return len > 0 && len < PLUGIN_ID_SIZE && id[len] == '\0';
}

static int plugin_request_check_ids(const struct id_list *l, struct err *e)
{
	for (size_t i = 0; i < l->n; i++)
		if (!plugin_request_is_id(l->ids[i]))
			return err_set(e, -EINVAL, "device ID %zu is not 1 to %d bytes of UTF-8", i,
				       PLUGIN_ID_SIZE - 1);
	return 0;
}

static int check_count(const char *what, size_t n, size_t most, struct err *e)
{
	if (n <= most)
		return 0;
	return err_set(e, -EINVAL, "%zu %s in one request, at most %zu are served", n, what, most);
}

static int check_preference(const struct preference_request *p, struct err *e)
{
	int r;

	if (p->size > p->available.n || p->must_include.n > p->size)
		return err_set(e, -EINVAL, "cannot choose %zu of %zu devices, %zu of them given",
			       p->size, p->available.n, p->must_include.n);
	r = plugin_request_check_ids(&p->available, e);
	return r < 0 ? r : plugin_request_check_ids(&p->must_include, e);
}

struct wire_request {
	struct proto_budget budget;
	ProtobufCMessage *message;
};

static struct id_list ids_of(char **ids, size_t n)
{
	return (struct id_list){(const char *const *)ids, n};
}

/* Sets n, and allocates the array for n containers. */
static int containers_new(struct plugin_request *q, void **ret, size_t n, size_t size,
			  struct err *e)
{
	int r = check_count("containers", n, PLUGIN_CONTAINERS_MAX, e);

	if (r < 0)
		return r;
	q->n = n;
	*ret = calloc(n + 1, size);
	return *ret ? 0 : err_set(e, -ENOMEM, "out of memory");
}

static int check_ids(const struct plugin_request *q, struct err *e)
{
	size_t total = 0;
	int r = 0;

	for (size_t i = 0; i < q->n && r == 0; i++) {
		total += q->ids[i].n;
		r = check_count("device IDs", total, PLUGIN_IDS_MAX, e);
		if (r == 0)
			r = plugin_request_check_ids(&q->ids[i], e);
	}
	return r;
}

typedef int fill_fn(struct plugin_request *, const void *message, struct err *);

static int fill_allocate(struct plugin_request *q, const void *message, struct err *e)
{
	const V1beta1__AllocateRequest *m = message;
	int r = containers_new(q, (void **)&q->ids, m->n_container_requests, sizeof(*q->ids), e);

	for (size_t i = 0; i < q->n && r == 0; i++)
		q->ids[i] = ids_of(m->container_requests[i]->devices_ids,
				   m->container_requests[i]->n_devices_ids);
	return r == 0 ? check_ids(q, e) : r;
}

static int fill_pre_start(struct plugin_request *q, const void *message, struct err *e)
{
	const V1beta1__PreStartContainerRequest *m = message;
	int r = containers_new(q, (void **)&q->ids, 1, sizeof(*q->ids), e);

	if (r < 0)
		return r;
	q->ids[0] = ids_of(m->devices_ids, m->n_devices_ids);
	return check_ids(q, e);
}

static int fill_preferred(struct plugin_request *q, const void *message, struct err *e)
{
	const V1beta1__PreferredAllocationRequest *m = message;
	int r = containers_new(q, (void **)&q->preferences, m->n_container_requests,
			       sizeof(*q->preferences), e);

	for (size_t i = 0; i < q->n && r == 0; i++) {
		const V1beta1__ContainerPreferredAllocationRequest *c = m->container_requests[i];

		if (c->allocation_size < 0)
			return err_set(e, -EBADMSG, "the request is malformed");
		q->preferences[i] = (struct preference_request){
			.available = ids_of(c->available_deviceids, c->n_available_deviceids),
			.must_include = ids_of(c->must_include_deviceids,
					       c->n_must_include_deviceids),
			.size = (size_t)c->allocation_size,
		};
		r = check_preference(&q->preferences[i], e);
	}
	return r;
}

static int take_request(struct plugin_request *ret, const ProtobufCMessageDescriptor *type,
			fill_fn *fill, const uint8_t *bytes, size_t len, struct err *e)
{
	struct plugin_request q = {.wire = calloc(1, sizeof(*q.wire))};
	int r = -ENOMEM;

	if (q.wire)
		q.wire->message = proto_decode(&q.wire->budget, type, bytes, len, &r);
	if (q.wire && q.wire->message)
		r = fill(&q, q.wire->message, e);
	else
		err_set(e, r, r == -ENOMEM ? "out of memory" : "the request is malformed");
	if (r < 0)
		plugin_request_done(&q);
	else
		*ret = q;
	return r;
}

int plugin_request_allocate(struct plugin_request *q, const uint8_t *bytes, size_t len,
			    struct err *e)
{
	return take_request(q, &v1beta1__allocate_request__descriptor, fill_allocate, bytes, len,
			    e);
}

int plugin_request_pre_start(struct plugin_request *q, const uint8_t *bytes, size_t len,
			     struct err *e)
{
	return take_request(q, &v1beta1__pre_start_container_request__descriptor, fill_pre_start,
			    bytes, len, e);
}

int plugin_request_preferred(struct plugin_request *q, const uint8_t *bytes, size_t len,
			     struct err *e)
{
	return take_request(q, &v1beta1__preferred_allocation_request__descriptor, fill_preferred,
			    bytes, len, e);
}

void plugin_request_done(struct plugin_request *q)
{
	if (q->wire && q->wire->message)
		protobuf_c_message_free_unpacked(q->wire->message, &q->wire->budget.allocator);
	free(q->wire);
	free(q->ids);
	free(q->preferences);
	*q = (struct plugin_request){0};
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
