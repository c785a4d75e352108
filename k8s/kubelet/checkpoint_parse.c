// SPDX-License-Identifier: Apache-2.0
/* checkpoint_parse.c - parses the kubelet's checkpoint: which container holds which device.
 * Pure. */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "json_text.h"
#include "pod_entries.h"
#include "pod_resources.h"

/* The device manager's checkpoint, a JSON text written by Go:
 * {"Data":{"PodDeviceEntries":[{"PodUID","ContainerName","ResourceName","DeviceIDs","AllocResp"}],
 * "RegisteredDevices":{}},"Checksum":N}. The checksum is a hash of Go's in-memory structures,
 * not of this text, so it is not verified. */
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

static int pod_checkpoint_add_ids(struct parse *p, struct pod_device *e, const json_t *ids)
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
		r = pod_entries_add(&p->list, &p->left_out, e);
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
		r = pod_checkpoint_add_ids(p, e, ids);
		if (r < 0)
			return r;
	}
	return 0;
}

static int pod_checkpoint_add_entry(struct parse *p, const json_t *entry)
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
		return err_set(p->err, -EBADMSG, "Data.PodDeviceEntries[%zu].DeviceIDs is missing",
			       p->entry);
	return json_is_object(ids) ? add_ids_by_node(p, &e, ids)
				   : pod_checkpoint_add_ids(p, &e, ids);
}

static int pod_checkpoint_add_entries(struct parse *p, const json_t *root)
{
	const json_t *data = json_object_get(root, "Data"), *entries, *entry;
	int r;

	if (!json_is_object(data))
		return err_set(p->err, -EBADMSG, "no \"Data\" object: not a kubelet checkpoint");
	entries = json_object_get(data, "PodDeviceEntries");
	if (json_is_null(entries)) /* a nil slice of Go: no allocations */
		return 0;
	if (!json_is_array(entries))
		return err_set(p->err, -EBADMSG, "Data.PodDeviceEntries is not a list");
	json_array_foreach (entries, p->entry, entry) {
		r = pod_checkpoint_add_entry(p, entry);
		if (r < 0)
			return r;
	}
	return 0;
}

static int load_failed(const json_error_t *at, struct err *e)
{
	if (json_text_no_memory(at))
		return err_set(e, -ENOMEM, "out of memory");
	return err_set(e, -EBADMSG, "line %d, column %d: %s", at->line, at->column, at->text);
}

int pod_checkpoint_parse(struct pod_list *ret, const char *text, size_t len, struct err *e)
{
	struct parse p = {.err = e};
	json_error_t at;
	json_t *root = json_text_load(text, len, 0, &at);
	int r;

	if (!root)
		return load_failed(&at, e);
	r = pod_checkpoint_add_entries(&p, root);
	json_decref(root);
	if (r < 0) {
		pod_list_done(&p.list);
		return r;
	}
	pod_entries_finish(&p.list, POD_SOURCE_CHECKPOINT);
	*ret = p.list;
	return (int)p.left_out;
}
