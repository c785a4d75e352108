// SPDX-License-Identifier: Apache-2.0
/* checkpoint_file.c - reads the file of the kubelet's checkpoint, and checks which of its pods
 * still exist. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "file_io.h"
#include "granted_parse.h"
#include "json_text.h"
#include "pod_entries.h"
#include "pod_resources.h"

/* Parses the allocations in the kubelet's checkpoint. Pure. */

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

#define FILE_NAME      "device-plugins/kubelet_internal_checkpoint"
#define CHECKPOINT_MAX (16u << 20)

struct checkpoint {
	char *path, *text; /* owned */
	size_t len;
};

static void checkpoint_done(struct checkpoint *c)
{
	free(c->path);
	free(c->text);
}

#define AUTO_CHECKPOINT __attribute__((cleanup(checkpoint_done))) struct checkpoint

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Reads the checkpoint unless its status equals *known, which may be NULL; see granted_read(). */
static int read_if_new(struct checkpoint *c, int fd, struct stat *known)
{
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (known && is_same_file(&st, known))
		return -EALREADY;
	r = file_read_heap(fd, CHECKPOINT_MAX, &c->text, &c->len);
	if (r == 0 && known)
		*known = st;
	return r;
}

static int open_and_read(struct checkpoint *c, const char *kubelet_dir, struct stat *known,
			 struct err *e)
{
	AUTO_FD fd = -1;
	int r;

	if (asprintf(&c->path, "%s/" FILE_NAME, kubelet_dir) < 0) {
		c->path = NULL;
		return err_set(e, -ENOMEM, "out of memory");
	}
	fd = open(c->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	r = fd < 0 ? -errno : read_if_new(c, fd, known);
	return r < 0 ? err_set(e, r, "%s: %s", c->path, strerror(-r)) : 0;
}

int pod_checkpoint_read(struct pod_list *ret, const char *kubelet_dir, struct err *e)
{
	AUTO_CHECKPOINT c = {0};
	int r = open_and_read(&c, kubelet_dir, NULL, e);

	if (r < 0)
		return r;
	r = pod_checkpoint_parse(ret, c.text, c.len, e);
	return r < 0 ? err_wrap(e, "%s", c.path) : r;
}

int granted_read(struct granted_list *ret, const char *kubelet_dir, struct stat *known,
		 struct err *e)
{
	AUTO_CHECKPOINT c = {0};
	int r = open_and_read(&c, kubelet_dir, known, e);

	if (r < 0)
		return r;
	r = granted_parse(ret, c.text, c.len, e);
	if (r == -ENOMEM) /* so that it is read again */
		*known = (struct stat){0};
	return r < 0 ? err_wrap(e, "%s", c.path) : r;
}

/* True if the pod has a folder, or if that is unknown. */
static bool checkpoint_file_has_folder(const char *kubelet_dir, const char *uid)
{
	AUTO_FREE char *path = NULL;

	if (uid[0] == '\0' || strchr(uid, '/'))
		return false;
	if (asprintf(&path, "%s/pods/%s", kubelet_dir, uid) < 0) {
		path = NULL;
		return true;
	}
	return access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

void pod_checkpoint_drop_ended(struct pod_list *l, const char *kubelet_dir)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		if (checkpoint_file_has_folder(kubelet_dir, l->devices[i].uid))
			l->devices[n++] = l->devices[i];
	l->n = n;
}
