// SPDX-License-Identifier: Apache-2.0
/* allocation_files.c - files about a pool's devices for other programs: device-info for Multus and
 * the CNI plugins below it, CDI specifications for container runtimes. Pure. */
#include "allocation.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "function_nodes.h"
#include "json_text.h"
#include "search.h"

/* --- names of the Container Device Interface -------------------------------------------------- */

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_alnum(char c)
{
	return is_letter(c) || (c >= '0' && c <= '9');
}

/* True if the name consists of letters, digits and characters of `also`, with a letter or digit at
 * the end. */
static bool is_made_of(const char *name, const char *also)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < n; i++)
		if (!is_alnum(name[i]) && !strchr(also, name[i]))
			return false;
	return n > 0 && is_alnum(name[n - 1]);
}

static const char *class_of(const struct pool *pool)
{
	if (pool->kind != POOL_EXCLUSIVE)
		return "net-rdma";
	switch (pool->type) {
	case DEVICE_NET:
		return "net-pci";
	case DEVICE_AUX_NET:
		return "net-sf";
	case DEVICE_ACCELERATOR:
		return "net-accel";
	}
	return "net-pci";
}

bool cdi_kind(const struct pool *pool, char ret[RESOURCE_NAME_SIZE])
{
	/* A runtime cannot add a folder as a device. */
	if (!pool->cdi || pool->whole_directory || !is_letter(pool->prefix[0]) ||
	    !is_made_of(pool->prefix, "_-."))
		return false;
	return snprintf(ret, RESOURCE_NAME_SIZE, "%s/%s", pool->prefix, class_of(pool)) <
	       RESOURCE_NAME_SIZE;
}

bool cdi_device(const struct pool *pool, const char *function, char ret[CDI_NAME_SIZE])
{
	int n;

	if (pool->kind == POOL_EXCLUSIVE)
		n = snprintf(ret, CDI_NAME_SIZE, "%s", function);
	else
		n = snprintf(ret, CDI_NAME_SIZE, "%s-%s", pool->name, function);
	return n < CDI_NAME_SIZE && is_alnum(ret[0]) && is_made_of(ret, "_-.:");
}

static const char device_info_end[] = "-device.json";
static const char cdi_start[] = "rocelet-", cdi_end[] = ".json";

/* Prints the document and frees it. NULL: out of memory. */
static char *print_json(json_t *doc)
{
	char *text = json_dumps(doc, JSON_COMPACT);

	json_decref(doc);
	return text;
}

/* Adds key and text unless the text is empty; false: out of memory. */
static bool allocation_add_text(json_t *o, const char *key, const char *text)
{
	return text[0] == '\0' || json_object_set_new(o, key, json_text(text)) == 0;
}

/* --- device-info ------------------------------------------------------------------------------ */

/* Returns all RDMA devices of a function, such as "mlx5_2,mlx5_3", on the heap; NULL when out of
 * memory. */
static char *rdma_names(const struct host *host, const char *function)
{
	char *names = strdup(""), *longer;

	for (size_t i = 0; names && i < host->n_rdma; i++) {
		if (strcmp(host->rdma[i].function, function) != 0)
			continue;
		if (asprintf(&longer, "%s%s%s", names, names[0] ? "," : "", host->rdma[i].name) < 0)
			longer = NULL;
		free(names);
		names = longer;
	}
	return names;
}

/* Matches the end of the port name of a VF's representor: "pf0vf3", "c1pf0vf3"
 * (linux/net/core/devlink.c). */
static bool allocation_is_representor(const struct netdev *nd, const char *number)
{
	const char *pf = strstr(nd->port_name, "pf"), *vf = pf ? strstr(pf, "vf") : NULL;

	return vf && strcmp(vf + 2, number) == 0;
}

static const char *representor(const struct host *host, const struct function *fn)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", fn->vf);
	for (size_t i = 0; fn->kind == FN_VF && i < host->n_netdevs; i++) {
		const struct netdev *nd = &host->netdevs[i];

		if (strcmp(nd->function, fn->parent) == 0 && allocation_is_representor(nd, number))
			return nd->name;
	}
	return "";
}

static bool add_addresses(json_t *o, const struct host *host, const struct function *fn)
{
	return allocation_add_text(o, "pci-address", fn->id) &&
	       allocation_add_text(o, "pf-pci-address", fn->kind == FN_VF ? fn->parent : "") &&
	       allocation_add_text(o, "representor-device", representor(host, fn));
}

static bool allocation_add_pci(json_t *o, const struct allocation_input *in,
			       const struct function *fn, const struct function_nodes *nodes)
{
	char *rdma = nodes->rdma ? rdma_names(in->host, fn->id) : strdup("");
	bool ok = rdma && add_addresses(o, in->host, fn) &&
		  allocation_add_text(o, "rdma-device", rdma) &&
		  allocation_add_text(o, "vhost-net", nodes->vhost ? "/dev/vhost-net" : "");

	free(rdma);
	return ok;
}

/* Adds "vhost" or "virtio": the driver names that sriov-network-device-plugin uses. */
static bool allocation_add_vdpa(json_t *o, const struct allocation_input *in,
				const struct function *fn, const struct function_nodes *nodes)
{
	const char *path = function_nodes_path(nodes, NODE_VDPA);

	return allocation_add_text(o, "driver", path ? "vhost" : "virtio") &&
	       allocation_add_text(o, "path", path ? path : "") && add_addresses(o, in->host, fn);
}

/* Returns the text of device-info. NULL: out of memory. */
static char *device_info(const struct allocation_input *in, const struct function *fn,
			 const struct function_nodes *nodes)
{
	const char *type = nodes->vdpa ? "vdpa" : "pci";
	json_t *details = json_object();
	bool ok = nodes->vdpa ? allocation_add_vdpa(details, in, fn, nodes)
			      : allocation_add_pci(details, in, fn, nodes);

	if (!ok) {
		json_decref(details);
		return NULL;
	}
	return print_json(json_pack("{ss ss so}", "type", type, "version", "1.1.0", type, details));
}

static bool allocation_has_id(const struct pool_view *view, const char *id)
{
	return any_of(view->n_offers, i, strcmp(view->offers[i].id, id) == 0);
}

/* Describes the device of an ID. *ret_json stays NULL if the specification has no format for it:
 * only functions with a PCI address have one. */
static int device_describe(char **ret_json, const struct allocation_input *in, const char *id)
{
	const struct function *fn = host_function(in->host, id);
	struct function_nodes nodes;
	int r;

	if (!fn)
		return -ENODEV;
	if (in->view->pool->kind != POOL_EXCLUSIVE || (fn->kind != FN_PF && fn->kind != FN_VF))
		return 0;
	r = function_nodes_collect(&nodes, in, fn, NULL);
	if (r < 0)
		return r;
	*ret_json = device_info(in, fn, &nodes);
	function_nodes_done(&nodes);
	return *ret_json ? 0 : -ENOMEM;
}

int allocation_device_info(char **ret_json, char **ret_name, const struct allocation_input *in,
			   const char *id)
{
	const struct pool *pool = in->view->pool;
	char *json = NULL, *name;
	int r = 0;

	if (!allocation_has_id(in->view, id))
		return -ENOENT;
	if (pool->kind == POOL_EXCLUSIVE)
		r = device_describe(&json, in, id);
	if (r < 0)
		return r;
	if (asprintf(&name, "%s-%s-%s%s", pool->prefix, pool->name, id, device_info_end) < 0) {
		free(json);
		return -ENOMEM;
	}
	*ret_json = json;
	*ret_name = name;
	return 0;
}

/* Returns true for every node, because the description does not depend on them. */
static bool allocation_any_node(const char *name, void *arg)
{
	(void)name, (void)arg;
	return true;
}

/* Selectors that request each kind of device, so a function gets all its nodes. */
static struct selector any_device[] = {{.is_rdma = true}, {.vdpa = VDPA_VHOST}, {.is_rdma = false}};
static const struct pool no_pool = {
	.kind = POOL_EXCLUSIVE, .selectors = any_device, .n_selectors = 3};

int allocation_info_of_function(char **ret_json, const struct pools *pools, const struct host *host,
				const char *function)
{
	const struct pool_view alone = {.pool = &no_pool};
	struct allocation_input in = {.view = &alone, .host = host, .exists = allocation_any_node};

	for (size_t i = 0; pools && i < pools->n_views; i++)
		if (pools->views[i].pool->kind == POOL_EXCLUSIVE &&
		    allocation_has_id(&pools->views[i], function))
			in.view = &pools->views[i];
	*ret_json = NULL;
	return device_describe(ret_json, &in, function);
}

/* Returns the part of a name between the prefix `start` and the suffix `end`, and its length in
 * *ret_len. NULL: the name does not have both. */
static const char *middle_of(const char *name, const char *start, const char *end, size_t *ret_len)
{
	size_t n = strlen(name), n_start = strlen(start), n_end = strlen(end);

	if (n < n_start + n_end || strncmp(name, start, n_start) != 0 ||
	    strcmp(name + n - n_end, end) != 0)
		return NULL;
	*ret_len = n - n_start - n_end;
	return name + n_start;
}

bool allocation_device_info_is_stale(const struct pool_view *view, const char *file_name)
{
	char start[RESOURCE_NAME_SIZE + 1], id[PLUGIN_ID_SIZE];
	const char *middle;
	size_t len;

	snprintf(start, sizeof(start), "%s-%s-", view->pool->prefix, view->pool->name);
	middle = middle_of(file_name, start, device_info_end, &len);
	/* A bus name has no '-', so "intel.com-sriov-x-..." belongs to intel.com/sriov-x. */
	if (!middle || len == 0 || len >= sizeof(id) || memchr(middle, '-', len))
		return false;
	memcpy(id, middle, len);
	id[len] = '\0';
	return !allocation_has_id(view, id);
}

/* --- CDI -------------------------------------------------------------------------------------- */

/* Returns the device nodes as JSON. NULL: out of memory. */
static json_t *device_nodes(const struct pool *pool, const struct function_nodes *nodes)
{
	const char *permissions = pool->permissions[0] != '\0' ? pool->permissions : "rw";
	json_t *list = json_array();

	for (size_t i = 0; i < nodes->n; i++) {
		const struct function_node *node = &nodes->list[i];

		if (json_array_append_new(
			    list, json_pack("{ss ss ss}", "path", node->container_path, "hostPath",
					    node->host_path, "permissions", permissions)) < 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

/* Adds one function, unless it has no nodes or some are missing. -ENOMEM. */
static int allocation_add_device(json_t *devices, const struct allocation_input *in, const char *id)
{
	const struct function *fn = host_function(in->host, id);
	char name[CDI_NAME_SIZE];
	struct function_nodes nodes;
	json_t *device = NULL;
	int r;

	if (!fn || !cdi_device(in->view->pool, id, name))
		return 0;
	r = function_nodes_collect(&nodes, in, fn, NULL);
	if (r < 0 || nodes.n == 0)
		return r == -ENOMEM ? r : 0;
	device = json_pack("{ss s{so}}", "name", name, "containerEdits", "deviceNodes",
			   device_nodes(in->view->pool, &nodes));
	function_nodes_done(&nodes);
	return json_array_append_new(devices, device) < 0 ? -ENOMEM : 0;
}

/* Returns all devices of the pool as JSON. NULL: out of memory. */
static json_t *all_devices(const struct allocation_input *in)
{
	json_t *devices = json_array();

	for (size_t i = 0; devices && i < in->view->n_members; i++)
		if (allocation_add_device(devices, in, in->view->members[i]) < 0) {
			json_decref(devices);
			return NULL;
		}
	return devices;
}

/* Prints the specification, or returns no text if there are no devices. */
static int print_spec(char **ret_json, const struct allocation_input *in, const char *kind)
{
	json_t *devices = all_devices(in);

	if (!devices)
		return -ENOMEM;
	if (json_array_size(devices) == 0) {
		json_decref(devices);
		return 0;
	}
	*ret_json = print_json(
		json_pack("{ss ss so}", "cdiVersion", "0.5.0", "kind", kind, "devices", devices));
	return *ret_json ? 0 : -ENOMEM;
}

char *allocation_cdi_name(const struct pool *pool)
{
	char *name;

	if (asprintf(&name, "%s%s_%s%s", cdi_start, pool->prefix, pool->name, cdi_end) < 0)
		return NULL;
	return name;
}

int allocation_cdi_spec(char **ret_json, char **ret_name, const struct allocation_input *in)
{
	const struct pool *pool = in->view->pool;
	char kind[RESOURCE_NAME_SIZE];
	char *json = NULL, *name;
	int r = cdi_kind(pool, kind) ? print_spec(&json, in, kind) : 0;

	if (r < 0)
		return r;
	name = allocation_cdi_name(pool);
	if (!name) {
		free(json);
		return -ENOMEM;
	}
	*ret_json = json;
	*ret_name = name;
	return 0;
}

bool allocation_cdi_spec_is_ours(const char *file_name)
{
	size_t len;

	return middle_of(file_name, cdi_start, cdi_end, &len) != NULL;
}
