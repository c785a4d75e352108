// SPDX-License-Identifier: Apache-2.0
/* allocation.c - builds the grant of a container for its device IDs.
 *
 * Success: for each ID, find its functions, add their nodes to the grant and their names to the
 * variables; then write the two variables. Fails on an ID of another pool, a removed device or
 * node, or out of memory. */
#include "allocation.h"

#include <ctype.h>
#include <jansson.h>

#include "cleanup.h"
#include "function_nodes.h"
#include "granted.h"
#include "json_text.h"

/* --- IDs -------------------------------------------------------------------------------------- */

/* Makes an ID from a request printable for messages; it may have any bytes and length. */
static const char *id_shown(const char *id, char text[PLUGIN_ID_SIZE])
{
	size_t i;

	for (i = 0; i < PLUGIN_ID_SIZE - 1 && id[i] != '\0'; i++)
		text[i] = id[i] >= ' ' && id[i] <= '~' ? id[i] : '?';
	text[i] = '\0';
	return text;
}

static const struct pool *owner_of(const struct pools *pools, const char *id)
{
	for (size_t i = 0; pools && i < pools->n_views; i++)
		if (pool_view_offer(&pools->views[i], id))
			return pools->views[i].pool;
	return NULL;
}

static int unknown_id(const struct allocation_input *in, const char *id, struct err *err)
{
	const struct pool *pool = in->view->pool, *owner = owner_of(in->pools, id);
	char text[PLUGIN_ID_SIZE];

	if (owner)
		return err_set(err, -ENOENT, "%s belongs to %s/%s, not to %s/%s",
			       id_shown(id, text), owner->prefix, owner->name, pool->prefix,
			       pool->name);
	return err_set(err, -ENOENT, "%s/%s has no device \"%s\"", pool->prefix, pool->name,
		       id_shown(id, text));
}

/* Rejects an ID that is unknown or occurs twice. So a list longer than the pool is rejected, too.
 */
static int check_id(const struct allocation_input *in, struct id_list ids, size_t at,
		    const struct offer **ret, struct err *err)
{
	char text[PLUGIN_ID_SIZE];

	*ret = pool_view_offer(in->view, ids.ids[at]);
	if (!*ret)
		return unknown_id(in, ids.ids[at], err);
	for (size_t i = 0; i < at; i++)
		if (strcmp(ids.ids[i], ids.ids[at]) == 0)
			return err_set(err, -EINVAL, "%s is requested twice",
				       id_shown(ids.ids[at], text));
	return 0;
}

/* --- ..._INFO of a function ------------------------------------------------------------------ */

/* The key of each node in ..._INFO. */
static const struct {
	enum node_role role;
	const char *provider, *key;
} places[] = {
	{NODE_UVERBS, "rdma", "uverbs"},
	{NODE_UMAD, "rdma", "umad"},
	{NODE_ISSM, "rdma", "issm"},
	{NODE_RDMA_CM, "rdma", "rdma_cm"},
	{NODE_VFIO_CONTAINER, "vfio", "mount"},
	{NODE_VFIO, "vfio", "dev-mount"},
	{NODE_UIO, "uio", "mount"},
	{NODE_VDPA, "vdpa", "mount"},
	{NODE_VHOST_NET, "vhost", "net-mount"},
	{NODE_TUN, "vhost", "tun-mount"},
};

/* Returns the provider's object, creating it if needed; NULL when out of memory. */
static json_t *info_provider(json_t *info, const char *name)
{
	json_t *o = json_object_get(info, name);

	if (!o && json_object_set_new(info, name, json_object()) == 0)
		o = json_object_get(info, name);
	return o;
}

static bool info_set(json_t *info, const char *provider_name, const char *key, const char *value)
{
	json_t *o = info_provider(info, provider_name);

	return o && json_object_set_new(o, key, value[0] ? json_text(value) : json_string("")) == 0;
}

static bool info_set_nodes(json_t *info, const struct function_nodes *nodes)
{
	const char *path;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		path = function_nodes_path(nodes, places[i].role);
		if (path && !info_set(info, places[i].provider, places[i].key, path))
			return false;
	}
	if (nodes->rdma && !info_set(info, "rdma", "rdma_dev", nodes->rdma->name))
		return false;
	return !nodes->vdpa || info_provider(info, "vdpa");
}

/* Adds additionalInfo: first the entries for all devices, then those for this one, which override
 * them. */
static bool info_set_extra(json_t *info, const struct pool *pool, const char *function)
{
	const char *const keys[] = {"*", function};

	if (pool->n_extra == 0)
		return true;
	if (!info_provider(info, "extra"))
		return false;
	for (size_t w = 0; w < ARRAY_SIZE(keys); w++)
		for (size_t i = 0; i < pool->n_extra; i++) {
			const struct extra_info *x = &pool->extra[i];

			if (strcmp(x->device, keys[w]) == 0 &&
			    !info_set(info, "extra", x->key, x->value))
				return false;
		}
	return true;
}

/* Returns the object of one function; NULL when out of memory. */
static json_t *function_info(const struct pool *pool, const char *function,
			     const struct function_nodes *nodes)
{
	json_t *info = json_object();

	if (info_set(info, "generic", "deviceID", function) && info_set_nodes(info, nodes) &&
	    info_set_extra(info, pool, function))
		return info;
	json_decref(info);
	return NULL;
}

/* --- the grant -------------------------------------------------------------------------------- */

struct granting {
	struct container_grant grant;
	const struct allocation_input *in;
	json_t *infos; /* keyed by function, in the order of the request */
	struct err *err;
};

static int out_of_memory(struct granting *g)
{
	return err_set(g->err, -ENOMEM, "out of memory");
}

static int grant_nodes(struct granting *g, const struct function_nodes *nodes)
{
	const struct pool *pool = g->in->view->pool;
	const char *permissions = pool->permissions[0] != '\0' ? pool->permissions : "rw";

	for (size_t i = 0; i < nodes->n; i++)
		if (container_grant_node(&g->grant, nodes->list[i].host_path,
					 nodes->list[i].container_path, permissions) < 0)
			return out_of_memory(g);
	return 0;
}

static int grant_cdi(struct granting *g, const char *function)
{
	char kind[RESOURCE_NAME_SIZE], device[CDI_NAME_SIZE], name[sizeof(kind) + sizeof(device)];

	if (!cdi_kind(g->in->view->pool, kind) || !cdi_device(g->in->view->pool, function, device))
		return 0;
	snprintf(name, sizeof(name), "%s=%s", kind, device);
	return container_grant_cdi(&g->grant, name) < 0 ? out_of_memory(g) : 0;
}

/* Adds one function to the grant, unless the container has it already. */
static int give(struct granting *g, const char *function, const struct function_nodes *nodes)
{
	json_auto_t *name = json_text(function);
	const char *key = json_string_value(name);
	int r = 0;

	if (!key) {
		r = out_of_memory(g);
	} else if (!json_object_get(g->infos, key)) {
		r = grant_nodes(g, nodes);
		/* CDI does not allow a device without edits. */
		if (r == 0 && nodes->n > 0)
			r = grant_cdi(g, function);
		if (r == 0 &&
		    json_object_set_new(g->infos, key,
					function_info(g->in->view->pool, function, nodes)) < 0)
			r = out_of_memory(g);
	}
	return r;
}

/* Grants a soft-RoCE device. The number of the soft-RoCE device is unknown until the attach creates
 * it. So the container gets the folder with all such nodes, and permission to open the node with
 * the function's name. */
static int grant_soft_roce(struct granting *g, const char *id)
{
	const char *const folder = "/dev/" SOFT_ROCE_DIR;
	char name[SOFT_ROCE_NODE_SIZE], node[sizeof(name) + 8];

	soft_roce_node(id, name);
	snprintf(node, sizeof(node), "/dev/%s", name);
	if (container_grant_mount(&g->grant, folder, "/dev/infiniband", true) < 0 ||
	    container_grant_node(&g->grant, node, node, "rw") < 0 ||
	    container_grant_node(&g->grant, "/dev/infiniband/rdma_cm", "/dev/infiniband/rdma_cm",
				 "rw") < 0)
		return out_of_memory(g);
	return 0;
}

static bool allocation_is_soft_roce(const struct pool *pool)
{
	return pool->network && pool->network->plan.soft_roce;
}

static int grant_function(struct granting *g, const char *id)
{
	const struct function *fn = host_function(g->in->host, id);
	struct function_nodes nodes = {0};
	int r = 0;

	if (!fn)
		return err_set(g->err, -ENODEV, "%s was removed", id);
	if (allocation_is_soft_roce(g->in->view->pool))
		r = grant_soft_roce(g, id);
	else if (!g->in->view->pool->whole_directory)
		r = function_nodes_collect(&nodes, g->in, fn, g->err);
	if (r == 0)
		r = give(g, id, &nodes);
	function_nodes_done(&nodes);
	return r;
}

static int give_folder(struct granting *g)
{
	struct function_nodes nodes;
	int r = function_nodes_folder(&nodes, g->in, g->err);

	if (r == 0)
		r = grant_nodes(g, &nodes);
	function_nodes_done(&nodes);
	return r;
}

static int grant_members(struct granting *g, const struct offer *o)
{
	const struct pool *pool = g->in->view->pool;
	const char *member;
	int r;

	if (o->gone)
		return err_set(g->err, -ENODEV, "%s was removed", o->id);
	if (o->n_members == 0 && !pool->whole_directory)
		return err_set(g->err, -ENODEV, "%s/%s has no RDMA device now", pool->prefix,
			       pool->name);
	for (size_t i = 0; i < o->n_members; i++) {
		member = g->in->view->members[o->first_member + i];
		r = grant_function(g, member);
		if (r < 0)
			return strcmp(member, o->id) == 0 ? r : err_wrap(g->err, "%s", o->id);
	}
	return pool->whole_directory ? give_folder(g) : 0;
}

/* --- the variables ---------------------------------------------------------------------------- */

/* True if the pool sets the variables of sriov-network-device-plugin. The plugins whose
 * configuration has numbered slots set none. */
static bool sets_variables(const struct pool *pool)
{
	return pool->kind == POOL_EXCLUSIVE || pool->ids != ID_NUMBER;
}

/* Returns the name of the variable, such as "PCIDEVICE_INTEL_COM_SRIOV": upper case, '_' for '.',
 * '-' unchanged. */
static char *variable_name(const struct pool *pool)
{
	char *name;

	if (asprintf(&name, "PCIDEVICE_%s_%s", pool->prefix, pool->name) < 0)
		return NULL;
	for (char *c = name; *c != '\0'; c++)
		*c = *c == '.' ? '_' : (char)toupper((unsigned char)*c);
	return name;
}

/* Joins the names of the functions with commas. */
static char *function_list(json_t *infos)
{
	char *list = NULL, *longer;
	const char *function;
	json_t *info;

	json_object_foreach (infos, function, info) {
		if (asprintf(&longer, "%s%s%s", list ? list : "", list ? "," : "", function) < 0)
			longer = NULL;
		free(list);
		list = longer;
		if (!list)
			break;
	}
	return list;
}

static int add_variables(struct granting *g)
{
	AUTO_FREE char *name = variable_name(g->in->view->pool);
	AUTO_FREE char *list = function_list(g->infos);
	/* Sorted keys, as Go prints its maps. */
	AUTO_FREE char *infos = json_dumps(g->infos, JSON_COMPACT | JSON_SORT_KEYS);
	AUTO_FREE char *info_name = NULL;

	if (!name || !list || !infos || asprintf(&info_name, "%s_INFO", name) < 0) {
		info_name = NULL;
		return out_of_memory(g);
	}
	if (container_grant_env(&g->grant, name, list) < 0 ||
	    container_grant_env(&g->grant, info_name, infos) < 0)
		return out_of_memory(g);
	return 0;
}

static int grant_all(struct granting *g, struct id_list ids)
{
	const struct offer *offer;
	int r = 0;

	if (ids.n == 0)
		return err_set(g->err, -EINVAL, "no device is requested");
	for (size_t i = 0; r == 0 && i < ids.n; i++) {
		r = check_id(g->in, ids, i, &offer, g->err);
		if (r == 0)
			r = grant_members(g, offer);
	}
	if (r == 0 && !g->in->view->pool->network &&
	    container_grant_annotation(&g->grant, GRANTED_NETWORK_KEY, GRANTED_NETWORK_NONE) < 0)
		r = out_of_memory(g);
	if (r == 0 && json_object_size(g->infos) > 0 && sets_variables(g->in->view->pool))
		r = add_variables(g);
	return r;
}

/* --- interface -------------------------------------------------------------------------------- */

int allocation_grant(struct container_grant *ret, const struct allocation_input *in,
		     struct id_list ids, struct err *err)
{
	struct err unread = {0};
	struct granting g = {.in = in, .infos = json_object(), .err = err ? err : &unread};
	int r = g.infos ? grant_all(&g, ids) : out_of_memory(&g);

	json_decref(g.infos);
	if (r < 0)
		container_grant_done(&g.grant);
	*ret = g.grant;
	return r;
}

int allocation_check(const struct allocation_input *in, struct id_list ids, struct err *err)
{
	struct container_grant grant;
	int r = allocation_grant(&grant, in, ids, err);

	container_grant_done(&grant);
	return r;
}
