/* pod_lists.c - which container holds which device, from either of the kubelet's sources. Pure. */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "pod_resources.h"
#include "podresources.pb-c.h"
#include "proto_budget.h"
#include "utf8.h"

/* A node has at most some hundred pods; a list above this is none. */
#define POD_LIST_MAX 16384
/* DNS labels and names (RFC 1123) with their ends, and a uid. */
#define LABEL_SIZE   64
#define NAME_SIZE    256
#define UID_SIZE     40

static bool is_device(const struct pod_device *d)
{
	return utf8_is_name(d->namespace, LABEL_SIZE) && utf8_is_name(d->pod, NAME_SIZE) &&
	       utf8_is_name(d->container, LABEL_SIZE) && utf8_is_name(d->uid, UID_SIZE) &&
	       utf8_is_name(d->resource, RESOURCE_NAME_SIZE) &&
	       utf8_is_name(d->id, PLUGIN_ID_SIZE) && d->resource && d->resource[0] && d->id &&
	       d->id[0];
}

/* Appends a copy; NULL texts are unknown. An entry with a name that no such thing can have (too
 * long, or no UTF-8 without control characters), or without resource or id, is counted instead.
 * -ENOMEM, -EMSGSIZE above POD_LIST_MAX. */
static int add_device(struct pod_list *l, size_t *left_out, const struct pod_device *d)
{
	if (l->n >= POD_LIST_MAX)
		return -EMSGSIZE;
	if (is_device(d))
		return pod_list_push(l, d);
	(*left_out)++;
	return 0;
}

static bool is_same_device(const struct pod_device *a, const struct pod_device *b)
{
	return strcmp(a->resource, b->resource) == 0 && strcmp(a->id, b->id) == 0 &&
	       strcmp(a->namespace, b->namespace) == 0 && strcmp(a->pod, b->pod) == 0 &&
	       strcmp(a->uid, b->uid) == 0 && strcmp(a->container, b->container) == 0;
}

/* Sorts, and drops what is there twice: a device of two NUMA nodes is told under both. */
static void finish_list(struct pod_list *l, enum pod_source source)
{
	size_t kept = 0;

	pod_list_sort(l);
	for (size_t i = 0; i < l->n; i++)
		if (kept == 0 || !is_same_device(&l->devices[kept - 1], &l->devices[i]))
			l->devices[kept++] = l->devices[i];
	l->n = kept;
	l->source = source;
}

/* --- PodResources: pods hold containers hold resources hold device IDs ----------------------- */

static int add_container(struct pod_list *l, size_t *left_out, struct pod_device *e,
			 const V1__ContainerResources *c)
{
	int r = 0;

	e->container = c->name;
	for (size_t i = 0; i < c->n_devices; i++) {
		e->resource = c->devices[i]->resource_name;
		for (size_t k = 0; r == 0 && k < c->devices[i]->n_device_ids; k++) {
			e->id = c->devices[i]->device_ids[k];
			r = add_device(l, left_out, e);
		}
	}
	return r;
}

static int add_pods(struct pod_list *l, size_t *left_out, const V1__ListPodResourcesResponse *m)
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
	r = add_pods(&l, &left_out, (V1__ListPodResourcesResponse *)m);
	protobuf_c_message_free_unpacked(m, &budget.allocator);
	if (r < 0) {
		pod_list_done(&l);
		return r;
	}
	finish_list(&l, POD_SOURCE_API);
	*ret = l;
	*ret_left_out = left_out;
	return 0;
}

/* --- the checkpoint --------------------------------------------------------------------------- */

/* The device manager's, a JSON text that Go wrote:
 * {"Data":{"PodDeviceEntries":[{"PodUID","ContainerName","ResourceName","DeviceIDs","AllocResp"}],
 * "RegisteredDevices":{}},"Checksum":N}. The checksum is one of Go's memory, not of the text; it is
 * not looked at. */
struct parse {
	struct pod_list list;
	size_t left_out;
	size_t entry; /* index, for messages */
	struct err *err;
};

static int bad_entry(struct parse *p, const char *key, const char *want)
{
	return err_set(p->err, -EBADMSG, "Data.PodDeviceEntries[%zu].%s is not %s", p->entry, key,
		       want);
}

static int add_failed(struct parse *p, int code)
{
	if (code == -EMSGSIZE)
		return err_set(p->err, code, "more than %d devices", POD_LIST_MAX);
	return err_set(p->err, code, "out of memory");
}

static int add_ids(struct parse *p, struct pod_device *e, const json_t *ids)
{
	const json_t *id;
	size_t i;
	int r;

	if (json_is_null(ids))
		return 0;
	if (!json_is_array(ids))
		return bad_entry(p, "DeviceIDs", "a list");
	json_array_foreach (ids, i, id) {
		e->id = json_string_value(id);
		if (!e->id)
			return bad_entry(p, "DeviceIDs", "a list of strings");
		r = add_device(&p->list, &p->left_out, e);
		if (r < 0)
			return add_failed(p, r);
	}
	return 0;
}

static int add_ids_by_node(struct parse *p, struct pod_device *e, json_t *by_node)
{
	const char *node;
	json_t *ids;
	int r;

	json_object_foreach (by_node, node, ids) {
		r = add_ids(p, e, ids);
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_entry(struct parse *p, const json_t *entry)
{
	struct pod_device e = {
		.uid = json_string_value(json_object_get(entry, "PodUID")),
		.container = json_string_value(json_object_get(entry, "ContainerName")),
		.resource = json_string_value(json_object_get(entry, "ResourceName"))};
	json_t *ids = json_object_get(entry, "DeviceIDs");

	if (!e.uid)
		return bad_entry(p, "PodUID", "a string");
	if (!e.container)
		return bad_entry(p, "ContainerName", "a string");
	if (!e.resource)
		return bad_entry(p, "ResourceName", "a string");
	if (!ids)
		return bad_entry(p, "DeviceIDs", "there");
	return json_is_object(ids) ? add_ids_by_node(p, &e, ids) : add_ids(p, &e, ids);
}

static int add_entries(struct parse *p, const json_t *root)
{
	const json_t *data = json_object_get(root, "Data"), *entries, *entry;
	int r;

	if (!json_is_object(data))
		return err_set(p->err, -EBADMSG,
			       "there is no \"Data\": not a kubelet's checkpoint");
	entries = json_object_get(data, "PodDeviceEntries");
	if (json_is_null(entries)) /* Go's nil slice: nothing is held */
		return 0;
	if (!json_is_array(entries))
		return err_set(p->err, -EBADMSG, "Data.PodDeviceEntries is not a list");
	json_array_foreach (entries, p->entry, entry) {
		r = add_entry(p, entry);
		if (r < 0)
			return r;
	}
	return 0;
}

static int load_failed(const json_error_t *at, struct err *e)
{
	/* jansson leaves the text empty at most failed allocations. */
	if (json_error_code(at) == json_error_out_of_memory || at->text[0] == '\0')
		return err_set(e, -ENOMEM, "out of memory");
	return err_set(e, -EBADMSG, "line %d, column %d: %s", at->line, at->column, at->text);
}

int pod_checkpoint_parse(struct pod_list *ret, const char *text, size_t len, struct err *e)
{
	struct parse p = {.err = e};
	json_error_t at;
	json_t *root = json_loadb(text, len, 0, &at);
	int r;

	if (!root)
		return load_failed(&at, e);
	r = add_entries(&p, root);
	json_decref(root);
	if (r < 0) {
		pod_list_done(&p.list);
		return r;
	}
	finish_list(&p.list, POD_SOURCE_CHECKPOINT);
	*ret = p.list;
	return (int)p.left_out;
}
