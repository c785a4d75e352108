// SPDX-License-Identifier: Apache-2.0
#include "granted_parse.h"

#include <errno.h>
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "deviceplugin.pb-c.h"
#include "json_text.h"
#include "proto_budget.h"
#include "search.h"

/* --- base64, RFC 4648 section 4 --------------------------------------------------------------- */

static int base64_digit(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

static size_t without_padding(const char *text, size_t len)
{
	for (int i = 0; i < 2 && len > 0 && text[len - 1] == '='; i++)
		len--;
	return len;
}

/* Decodes base64; `bytes` has room for three quarters of the text's length. -EBADMSG. */
static int base64_decode(const char *text, uint8_t *bytes, size_t *ret_len)
{
	const size_t all = strlen(text), len = without_padding(text, all);
	uint32_t bits = 0;
	size_t n = 0;

	if (all % 4)
		return -EBADMSG;
	for (size_t i = 0; i < len; i++) {
		int digit = base64_digit(text[i]);

		if (digit < 0)
			return -EBADMSG;
		bits = bits << 6 | (uint32_t)digit;
		if (i % 4 != 0)
			bytes[n++] = (uint8_t)(bits >> (6 - 2 * (i % 4)));
	}
	*ret_len = n;
	return 0;
}

/* --- one entry -------------------------------------------------------------------------------- */

static int granted_add_text(char ***texts, size_t *n, const char *text)
{
	char **grown = array_room(*texts, *n, sizeof(**texts));

	if (!grown)
		return -ENOMEM;
	*texts = grown;
	grown[*n] = strdup(text);
	if (!grown[*n])
		return -ENOMEM;
	(*n)++;
	return 0;
}

static bool has_no_network_mark(const V1beta1__ContainerAllocateResponse *m)
{
	return any_of(m->n_annotations, i,
		      strcmp(m->annotations[i]->key, GRANTED_NETWORK_KEY) == 0 &&
			      strcmp(m->annotations[i]->value, GRANTED_NETWORK_NONE) == 0);
}

static int add_nodes(struct granted *g, const char *text)
{
	static const char dev[] = "/dev/";
	struct proto_budget budget;
	V1beta1__ContainerAllocateResponse *m;
	size_t len = 0;
	AUTO_FREE uint8_t *bytes = malloc(strlen(text) / 4 * 3 + 1);
	int r = bytes ? base64_decode(text, bytes, &len) : -ENOMEM;

	if (r < 0)
		return r;
	m = (void *)proto_decode(&budget, &v1beta1__container_allocate_response__descriptor, bytes,
				 len, &r);
	if (!m)
		return r;
	r = 0;
	g->no_network = has_no_network_mark(m);
	for (size_t i = 0; r == 0 && i < m->n_devices; i++)
		if (strncmp(m->devices[i]->host_path, dev, sizeof(dev) - 1) == 0)
			r = granted_add_text(&g->nodes, &g->n_nodes,
					     m->devices[i]->host_path + sizeof(dev) - 1);
	protobuf_c_message_free_unpacked(&m->base, &budget.allocator);
	return r;
}

static int granted_add_ids(struct granted *g, const json_t *ids)
{
	const json_t *id;
	size_t i;
	int r = 0;

	json_array_foreach (ids, i, id)
		if (r == 0 && json_is_string(id))
			r = granted_add_text(&g->ids, &g->n_ids, json_string_value(id));
	return r;
}

/* Reads device IDs: grouped by NUMA node since Kubernetes 1.20, a plain list before. */
static int add_all_ids(struct granted *g, json_t *ids)
{
	const char *node;
	json_t *of_node;
	int r = 0;

	if (!json_is_object(ids))
		return granted_add_ids(g, ids);
	json_object_foreach (ids, node, of_node)
		r = r == 0 ? granted_add_ids(g, of_node) : r;
	return r;
}

static bool granted_has_content(const struct granted *g)
{
	return g->n_nodes || g->no_network;
}

static int fill(struct granted *g, const json_t *entry)
{
	const char *uid = json_string_value(json_object_get(entry, "PodUID"));
	const char *resource = json_string_value(json_object_get(entry, "ResourceName"));
	const char *answer = json_string_value(json_object_get(entry, "AllocResp"));
	int r;

	if (!uid || !resource || !answer)
		return -EBADMSG;
	g->uid = strdup(uid);
	g->resource = strdup(resource);
	r = g->uid && g->resource ? add_nodes(g, answer) : -ENOMEM;
	return r == 0 && granted_has_content(g)
		       ? add_all_ids(g, json_object_get(entry, "DeviceIDs"))
		       : r;
}

/* --- all entries ------------------------------------------------------------------------------ */

/* Adds an entry; 1: it cannot be decoded. */
static int granted_add_entry(struct granted_list *l, const json_t *entry)
{
	struct granted_list one = {.items = calloc(1, sizeof(struct granted)), .n = 1};
	struct granted *at;
	int r = one.items ? fill(&one.items[0], entry) : -ENOMEM;

	if (!one.items)
		return r;
	at = r == 0 && granted_has_content(&one.items[0]) ? array_push(l->items, l->n) : NULL;
	if (at) {
		*at = one.items[0];
		free(one.items);
		return 0;
	}
	r = r == 0 && granted_has_content(&one.items[0]) ? -ENOMEM : r;
	granted_list_done(&one);
	return r == -EBADMSG ? 1 : r;
}

static int granted_add_entries(struct granted_list *l, const json_t *entries)
{
	const json_t *entry;
	int bad = 0, r = 0;
	size_t i;

	if (entries && !json_is_null(entries) && !json_is_array(entries))
		return -EBADMSG;
	json_array_foreach (entries, i, entry) {
		r = granted_add_entry(l, entry);
		if (r < 0)
			return r;
		bad += r;
	}
	return bad;
}

int granted_parse(struct granted_list *ret, const char *text, size_t len, struct err *e)
{
	struct granted_list l = {0};
	json_error_t at;
	json_t *root = json_text_load(text, len, 0, &at);
	const json_t *data = json_object_get(root, "Data");
	int r = json_is_object(data) ? 0 : -EBADMSG;

	if (!root && json_text_no_memory(&at))
		r = -ENOMEM;
	if (r == 0)
		r = granted_add_entries(&l, json_object_get(data, "PodDeviceEntries"));
	json_decref(root);
	if (r >= 0) {
		*ret = l;
		return r;
	}
	granted_list_done(&l);
	return r == -ENOMEM ? err_set(e, r, "out of memory")
			    : err_set(e, r, "not a kubelet checkpoint");
}
